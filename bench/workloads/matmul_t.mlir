// C[j, i] = sum over k of A[k, i] * B[j, k]
func.func @matmul_t(%A: tensor<{{ k }}x{{ i }}x{{ T }}>, %B: tensor<{{ j }}x{{ k }}x{{ T }}>)
    -> tensor<{{ j }}x{{ i }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ j }}x{{ i }}x{{ T }}>
  %points = mdh.inp_view (i = {{ i }}, j = {{ j }}, k = {{ k }})
      (%A[k, i] : tensor<{{ k }}x{{ i }}x{{ T }}>, %B[j, k] : tensor<{{ j }}x{{ k }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ j }}x{{ k }}, {{ T }}, {{ T }}>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf))) %points
      : !mdh.mda<{{ i }}x{{ j }}x{{ k }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ i }}x{{ j }}x1, {{ T }}>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[j, i] : tensor<{{ j }}x{{ i }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ j }}x1, {{ T }}>
  return %C : tensor<{{ j }}x{{ i }}x{{ T }}>
}
