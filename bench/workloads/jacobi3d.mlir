// y[i - 1, j - 1, k - 1] = the mean of x[i, j, k] and its six neighbours, at every inner point
{% set points %}{{ n - 2 }}x{{ n - 2 }}x{{ n - 2 }}{% endset -%}
{% set x %}tensor<{{ n }}x{{ n }}x{{ n }}x{{ T }}>{% endset -%}
{% set seven %}{{ T }}, {{ T }}, {{ T }}, {{ T }}, {{ T }}, {{ T }}, {{ T }}{% endset -%}
func.func @jacobi3d(%x: {{ x }}) -> tensor<{{ points }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ points }}x{{ T }}>
  %points = mdh.inp_view (i = 1 to {{ n - 1 }}, j = 1 to {{ n - 1 }}, k = 1 to {{ n - 1 }})
      (%x[i, j, k][i - 1, j, k][i + 1, j, k][i, j - 1, k][i, j + 1, k][i, j, k - 1][i, j, k + 1] : {{ x }})
      : !mdh.mda<{{ points }}, {{ seven }}>
  %step = mdh.hom((%x0: {{ T }}, %x1: {{ T }}, %x2: {{ T }}, %x3: {{ T }}, %x4: {{ T }}, %x5: {{ T }}, %x6: {{ T }}) {
      %seventh = arith.constant {{ 1 / 7 }} : {{ T }}
      %s1 = arith.addf %x0, %x1 : {{ T }}
      %s2 = arith.addf %s1, %x2 : {{ T }}
      %s3 = arith.addf %s2, %x3 : {{ T }}
      %s4 = arith.addf %s3, %x4 : {{ T }}
      %s5 = arith.addf %s4, %x5 : {{ T }}
      %s6 = arith.addf %s5, %x6 : {{ T }}
      %y = arith.mulf %s6, %seventh : {{ T }}
      mdh.yield %y : {{ T }}
  }, (cc, cc, cc)) %points : !mdh.mda<{{ points }}, {{ seven }}> -> !mdh.mda<{{ points }}, {{ T }}>
  %y = mdh.out_view (i, j, k) %step -> (y = %init[i - 1, j - 1, k - 1] : tensor<{{ points }}x{{ T }}>)
      : !mdh.mda<{{ points }}, {{ T }}>
  return %y : tensor<{{ points }}x{{ T }}>
}
