// m = max(0, max over r of (sum over i >= r and all j of x[i, j]))
func.func @mbbs(%x: tensor<{{ i }}x{{ j }}x{{ T }}>) -> tensor<{{ T }}> {
  %init = tensor.empty() : tensor<{{ T }}>
  %points = mdh.inp_view (i = {{ i }}, j = {{ j }}) (%x[{{ i - 1 }} - i, j] : tensor<{{ i }}x{{ j }}x{{ T }}>)
          : !mdh.mda<{{ i }}x{{ j }}, {{ T }}>
  %boxes = mdh.hom(id, (ps(addf), pw(addf))) %points : !mdh.mda<{{ i }}x{{ j }}, {{ T }}> -> !mdh.mda<{{ i }}x1, {{ T }}>
  %best = mdh.hom((%sum: {{ T }}) {
      %zero = arith.constant 0.0 : {{ T }}
      %positive = arith.maximumf %sum, %zero : {{ T }}
      mdh.yield %positive : {{ T }}
  }, (pw(maximumf), pw(maximumf))) %boxes : !mdh.mda<{{ i }}x1, {{ T }}> -> !mdh.mda<1x1, {{ T }}>
  %m = mdh.out_view (i, j) %best -> (m = %init[] : tensor<{{ T }}>) : !mdh.mda<1x1, {{ T }}>
  return %m : tensor<{{ T }}>
}
