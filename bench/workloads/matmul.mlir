// C[i, j] = sum over k of A[i, k] * B[k, j]
func.func @matmul(%A: tensor<{{ i }}x{{ k }}x{{ T }}>, %B: tensor<{{ k }}x{{ j }}x{{ T }}>)
    -> tensor<{{ i }}x{{ j }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ i }}x{{ j }}x{{ T }}>
  %points = mdh.inp_view (i = {{ i }}, j = {{ j }}, k = {{ k }})
      (%A[i, k] : tensor<{{ i }}x{{ k }}x{{ T }}>, %B[k, j] : tensor<{{ k }}x{{ j }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ j }}x{{ k }}, {{ T }}, {{ T }}>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf))) %points
      : !mdh.mda<{{ i }}x{{ j }}x{{ k }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ i }}x{{ j }}x1, {{ T }}>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<{{ i }}x{{ j }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ j }}x1, {{ T }}>
  return %C : tensor<{{ i }}x{{ j }}x{{ T }}>
}
