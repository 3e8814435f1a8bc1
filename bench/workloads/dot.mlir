// s = sum over i of x[i] * y[i]
func.func @dot(%x: tensor<{{ i }}x{{ T }}>, %y: tensor<{{ i }}x{{ T }}>) -> tensor<{{ T }}> {
  %init = tensor.empty() : tensor<{{ T }}>
  %points = mdh.inp_view (i = {{ i }}) (%x[i] : tensor<{{ i }}x{{ T }}>, %y[i] : tensor<{{ i }}x{{ T }}>)
          : !mdh.mda<{{ i }}, {{ T }}, {{ T }}>
  %sum = mdh.hom(mulf, (pw(addf))) %points : !mdh.mda<{{ i }}, {{ T }}, {{ T }}> -> !mdh.mda<1, {{ T }}>
  %s = mdh.out_view (i) %sum -> (s = %init[] : tensor<{{ T }}>) : !mdh.mda<1, {{ T }}>
  return %s : tensor<{{ T }}>
}
