// y[j, i] = x[i, j]
func.func @transpose(%x: tensor<{{ i }}x{{ j }}x{{ T }}>) -> tensor<{{ j }}x{{ i }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ j }}x{{ i }}x{{ T }}>
  %points = mdh.inp_view (i = {{ i }}, j = {{ j }}) (%x[i, j] : tensor<{{ i }}x{{ j }}x{{ T }}>)
          : !mdh.mda<{{ i }}x{{ j }}, {{ T }}>
  %same = mdh.hom(id, (cc, cc)) %points : !mdh.mda<{{ i }}x{{ j }}, {{ T }}> -> !mdh.mda<{{ i }}x{{ j }}, {{ T }}>
  %y = mdh.out_view (i, j) %same -> (y = %init[j, i] : tensor<{{ j }}x{{ i }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ j }}, {{ T }}>
  return %y : tensor<{{ j }}x{{ i }}x{{ T }}>
}
