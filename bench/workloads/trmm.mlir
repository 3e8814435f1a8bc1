// C[i, j] = sum over k of A[i, k] * B[k, j], where A is lower (k <= i) or upper (k >= i) triangular, or has a band
// of w on each side of its diagonal; "output" has the lower triangle of C, and zeros
{% set C %}tensor<{{ i }}x{{ j }}x{{ T }}>{% endset -%}
{% set A %}tensor<{{ i }}x{{ i }}x{{ T }}>{% endset -%}
{% set part = part if part is defined else "lower" -%}
func.func @trmm(%A: {{ A }}, %B: {{ C }}) -> {{ C }} {
  %init = tensor.empty() : {{ C }}
  %points = mdh.inp_view (i = {{ i }}, j = {{ j }}, k = {{ i }}) (%A[i, k] : {{ A }}, %B[k, j] : {{ C }})
      : !mdh.mda<{{ i }}x{{ j }}x{{ i }}, {{ T }}, {{ T }}>
  %sums = mdh.hom((%a: {{ T }}, %b: {{ T }}) {
    %zero = arith.constant 0.0 : {{ T }}
    %i = mdh.index 0 : index
    %j = mdh.index 1 : index
    %k = mdh.index 2 : index
    %width = arith.constant {{ w }} : index
    %first = arith.subi %i, %width : index
    %last = arith.addi %i, %width : index
{%- if part == "upper" %}
    %is_in = arith.cmpi sge, %k, %i : index
{%- elif part == "output" %}
    %is_in = arith.cmpi sle, %j, %i : index
{%- elif part == "band" %}
    %from = arith.cmpi sge, %k, %first : index
    %to = arith.cmpi sle, %k, %last : index
    %is_in = arith.andi %from, %to : i1
{%- else %}
    %is_in = arith.cmpi sle, %k, %i : index
{%- endif %}
    %product = arith.mulf %a, %b : {{ T }}
    %value = arith.select %is_in, %product, %zero : {{ T }}
    mdh.yield %value : {{ T }}
  }, (cc, cc, pw(addf))) %points : !mdh.mda<{{ i }}x{{ j }}x{{ i }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ i }}x{{ j }}x1, {{ T }}>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : {{ C }}) : !mdh.mda<{{ i }}x{{ j }}x1, {{ T }}>
  return %C : {{ C }}
}
