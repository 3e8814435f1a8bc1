// C[b, i, j] = sum over k of A[b, i, k] * B[b, k, j]
{% set shape %}{{ b }}x{{ i }}x{{ j }}{% endset -%}
func.func @bmatmul(%A: tensor<{{ b }}x{{ i }}x{{ k }}x{{ T }}>, %B: tensor<{{ b }}x{{ k }}x{{ j }}x{{ T }}>)
    -> tensor<{{ shape }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ shape }}x{{ T }}>
  %points = mdh.inp_view (b = {{ b }}, i = {{ i }}, j = {{ j }}, k = {{ k }})
      (%A[b, i, k] : tensor<{{ b }}x{{ i }}x{{ k }}x{{ T }}>, %B[b, k, j] : tensor<{{ b }}x{{ k }}x{{ j }}x{{ T }}>)
      : !mdh.mda<{{ shape }}x{{ k }}, {{ T }}, {{ T }}>
  %sums = mdh.hom(mulf, (cc, cc, cc, pw(addf))) %points
      : !mdh.mda<{{ shape }}x{{ k }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ shape }}x1, {{ T }}>
  %C = mdh.out_view (b, i, j, k) %sums -> (C = %init[b, i, j] : tensor<{{ shape }}x{{ T }}>)
      : !mdh.mda<{{ shape }}x1, {{ T }}>
  return %C : tensor<{{ shape }}x{{ T }}>
}
