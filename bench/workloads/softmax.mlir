// y[i, j] = exp(x[i, j] - m[i]) / s[i], with m[i] = max over j of x[i, j]
//                                      and  s[i] = sum over j of exp(x[i, j] - m[i])
{% set x %}tensor<{{ i }}x{{ j }}x{{ T }}>{% endset -%}
{% set row %}tensor<{{ i }}x{{ T }}>{% endset -%}
{% set points %}{{ i }}x{{ j }}{% endset -%}
func.func @softmax(%x: {{ x }}) -> {{ x }} {
  %m_init = tensor.empty() : {{ row }}
  %s_init = tensor.empty() : {{ row }}
  %y_init = tensor.empty() : {{ x }}

  %rows = mdh.inp_view (i = {{ i }}, j = {{ j }}) (%x[i, j] : {{ x }}) : !mdh.mda<{{ points }}, {{ T }}>
  %largest = mdh.hom(id, (cc, pw(maximumf))) %rows : !mdh.mda<{{ points }}, {{ T }}> -> !mdh.mda<{{ i }}x1, {{ T }}>
  %m = mdh.out_view (i, j) %largest -> (m = %m_init[i] : {{ row }}) : !mdh.mda<{{ i }}x1, {{ T }}>

  %below = mdh.inp_view (i = {{ i }}, j = {{ j }}) (%x[i, j] : {{ x }}, %m[i] : {{ row }})
         : !mdh.mda<{{ points }}, {{ T }}, {{ T }}>
  %sums = mdh.hom((%x_ij: {{ T }}, %m_i: {{ T }}) {
      %less = arith.subf %x_ij, %m_i : {{ T }}
      %exp = math.exp %less : {{ T }}
      mdh.yield %exp : {{ T }}
  }, (cc, pw(addf))) %below : !mdh.mda<{{ points }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ i }}x1, {{ T }}>
  %s = mdh.out_view (i, j) %sums -> (s = %s_init[i] : {{ row }}) : !mdh.mda<{{ i }}x1, {{ T }}>

  %all = mdh.inp_view (i = {{ i }}, j = {{ j }}) (%x[i, j] : {{ x }}, %m[i] : {{ row }}, %s[i] : {{ row }})
       : !mdh.mda<{{ points }}, {{ T }}, {{ T }}, {{ T }}>
  %scaled = mdh.hom((%x_ij: {{ T }}, %m_i: {{ T }}, %s_i: {{ T }}) {
      %less = arith.subf %x_ij, %m_i : {{ T }}
      %exp = math.exp %less : {{ T }}
      %y = arith.divf %exp, %s_i : {{ T }}
      mdh.yield %y : {{ T }}
  }, (cc, cc)) %all : !mdh.mda<{{ points }}, {{ T }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ points }}, {{ T }}>
  %y = mdh.out_view (i, j) %scaled -> (y = %y_init[i, j] : {{ x }}) : !mdh.mda<{{ points }}, {{ T }}>
  return %y : {{ x }}
}
