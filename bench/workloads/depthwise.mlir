// out[n, c, p, q] = sum over r, s of image[n, c, t p + r, t q + s] * filter[c, r, s]
//
// With padding = "zeros" the image is t times as large as the result, around it is zero, and indices are less by
// R / 2 and S / 2; otherwise it is as large as it has to be.
{% set is_padded = padding|default("none") == "zeros" -%}
{% set high = t * p if is_padded else (p - 1) * t + r -%}
{% set wide = t * q if is_padded else (q - 1) * t + s -%}
{% set above = r // 2 if is_padded else 0 -%}
{% set left = s // 2 if is_padded else 0 -%}
{% set points %}{{ n }}x{{ c }}x{{ p }}x{{ q }}x{{ r }}x{{ s }}, {{ T }}, {{ T }}{% endset -%}
{% set sums %}{{ n }}x{{ c }}x{{ p }}x{{ q }}x1x1, {{ T }}{% endset -%}
{% set image %}tensor<{{ n }}x{{ c }}x{{ high }}x{{ wide }}x{{ T }}>{% endset -%}
{% set filter %}tensor<{{ c }}x{{ r }}x{{ s }}x{{ T }}>{% endset -%}
{% set out %}tensor<{{ n }}x{{ c }}x{{ p }}x{{ q }}x{{ T }}>{% endset -%}
func.func @depthwise(%image: {{ image }}, %filter: {{ filter }}) -> {{ out }} {
  %init = tensor.empty() : {{ out }}
  %points = mdh.inp_view (n = {{ n }}, c = {{ c }}, p = {{ p }}, q = {{ q }}, r = {{ r }}, s = {{ s }})
      (%image[n, c, {{ t }} * p + r - {{ above }}, {{ t }} * q + s - {{ left }}]
      {%- if is_padded %} pad(0.0 : {{ T }}){% endif %} : {{ image }},
       %filter[c, r, s] : {{ filter }})
      : !mdh.mda<{{ points }}>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf))) %points
      : !mdh.mda<{{ points }}> -> !mdh.mda<{{ sums }}>
  %out = mdh.out_view (n, c, p, q, r, s) %sums -> (out = %init[n, c, p, q] : {{ out }}) : !mdh.mda<{{ sums }}>
  return %out : {{ out }}
}
