// C[i, j] = sum over k of A[i, k] * B[k, j]; products of bf16 may take denormal numbers for zeros
{% set S = S if S is defined else T -%}
{% set product -%}
{% if S == T -%}
mulf
{%- else -%}
{% set extended, multiplied = ("extsi", "muli") if T == "i8" else ("extf", "mulf") -%}
(%a: {{ T }}, %b: {{ T }}) {
    %x = arith.{{ extended }} %a : {{ T }} to {{ S }}
    %y = arith.{{ extended }} %b : {{ T }} to {{ S }}
    %p = arith.{{ multiplied }} %x, %y {{ "fastmath<fast> " if T == "bf16" }}: {{ S }}
    mdh.yield %p : {{ S }}
  }
{%- endif %}
{%- endset -%}
func.func @matmul(%A: tensor<{{ i }}x{{ k }}x{{ T }}>, %B: tensor<{{ k }}x{{ j }}x{{ T }}>)
    -> tensor<{{ i }}x{{ j }}x{{ S }}> {
  %init = tensor.empty() : tensor<{{ i }}x{{ j }}x{{ S }}>
  %points = mdh.inp_view (i = {{ i }}, j = {{ j }}, k = {{ k }})
      (%A[i, k] : tensor<{{ i }}x{{ k }}x{{ T }}>, %B[k, j] : tensor<{{ k }}x{{ j }}x{{ T }}>)
      : !mdh.mda<{{ i }}x{{ j }}x{{ k }}, {{ T }}, {{ T }}>
  %sums = mdh.hom({{ product }}, (cc, cc, pw({{ "addi" if S == "i32" else "addf" }}))) %points
      : !mdh.mda<{{ i }}x{{ j }}x{{ k }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ i }}x{{ j }}x1, {{ S }}>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<{{ i }}x{{ j }}x{{ S }}>)
      : !mdh.mda<{{ i }}x{{ j }}x1, {{ S }}>
  return %C : tensor<{{ i }}x{{ j }}x{{ S }}>
}
