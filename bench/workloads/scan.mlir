// y[i] = sum over k <= i of x[k]
func.func @scan(%x: tensor<{{ i }}x{{ T }}>) -> tensor<{{ i }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ i }}x{{ T }}>
  %points = mdh.inp_view (i = {{ i }}) (%x[i] : tensor<{{ i }}x{{ T }}>) : !mdh.mda<{{ i }}, {{ T }}>
  %sums = mdh.hom(id, (ps(addf))) %points : !mdh.mda<{{ i }}, {{ T }}> -> !mdh.mda<{{ i }}, {{ T }}>
  %y = mdh.out_view (i) %sums -> (y = %init[i] : tensor<{{ i }}x{{ T }}>) : !mdh.mda<{{ i }}, {{ T }}>
  return %y : tensor<{{ i }}x{{ T }}>
}
