// w[i] = sum over k of M[i, k] * v[k]
func.func @matvec(%M: tensor<{{ i }}x{{ k }}x{{ T }}>, %v: tensor<{{ k }}x{{ T }}>) -> tensor<{{ i }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ i }}x{{ T }}>
  %points = mdh.inp_view (i = {{ i }}, k = {{ k }})
      (%M[i, k] : tensor<{{ i }}x{{ k }}x{{ T }}>, %v[k] : tensor<{{ k }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ k }}, {{ T }}, {{ T }}>
  %sums = mdh.hom(mulf, (cc, pw(addf))) %points
      : !mdh.mda<{{ i }}x{{ k }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ i }}x1, {{ T }}>
  %w = mdh.out_view (i, k) %sums -> (w = %init[i] : tensor<{{ i }}x{{ T }}>) : !mdh.mda<{{ i }}x1, {{ T }}>
  return %w : tensor<{{ i }}x{{ T }}>
}
