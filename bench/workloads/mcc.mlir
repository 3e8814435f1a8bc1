// out[n, p, q, k] = sum over r, s, c of image[n, t p + r, t q + s, c] * filter[k, r, s, c]
//
// With layout = "nchw" the image is [n, c, ..], the filter [k, c, ..] and the output [n, k, ..].
{% set high = (p - 1) * t + r -%}
{% set wide = (q - 1) * t + s -%}
{% set points %}{{ n }}x{{ p }}x{{ q }}x{{ k }}x{{ r }}x{{ s }}x{{ c }}, {{ T }}, {{ T }}{% endset -%}
{% set sums %}{{ n }}x{{ p }}x{{ q }}x{{ k }}x1x1x1, {{ T }}{% endset -%}
{% if layout|default("nhwc") == "nchw" -%}
{% set image %}tensor<{{ n }}x{{ c }}x{{ high }}x{{ wide }}x{{ T }}>{% endset -%}
{% set filter %}tensor<{{ k }}x{{ c }}x{{ r }}x{{ s }}x{{ T }}>{% endset -%}
{% set out %}tensor<{{ n }}x{{ k }}x{{ p }}x{{ q }}x{{ T }}>{% endset -%}
{% set at = ["n, c, " ~ t ~ " * p + r, " ~ t ~ " * q + s", "k, c, r, s", "n, k, p, q"] -%}
{% else -%}
{% set image %}tensor<{{ n }}x{{ high }}x{{ wide }}x{{ c }}x{{ T }}>{% endset -%}
{% set filter %}tensor<{{ k }}x{{ r }}x{{ s }}x{{ c }}x{{ T }}>{% endset -%}
{% set out %}tensor<{{ n }}x{{ p }}x{{ q }}x{{ k }}x{{ T }}>{% endset -%}
{% set at = ["n, " ~ t ~ " * p + r, " ~ t ~ " * q + s, c", "k, r, s, c", "n, p, q, k"] -%}
{% endif -%}
func.func @mcc(%image: {{ image }}, %filter: {{ filter }}) -> {{ out }} {
  %init = tensor.empty() : {{ out }}
  %points = mdh.inp_view (n = {{ n }}, p = {{ p }}, q = {{ q }}, k = {{ k }}, r = {{ r }}, s = {{ s }}, c = {{ c }})
      (%image[{{ at[0] }}] : {{ image }}, %filter[{{ at[1] }}] : {{ filter }})
      : !mdh.mda<{{ points }}>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf))) %points
      : !mdh.mda<{{ points }}> -> !mdh.mda<{{ sums }}>
  %out = mdh.out_view (n, p, q, k, r, s, c) %sums -> (out = %init[{{ at[2] }}] : {{ out }}) : !mdh.mda<{{ sums }}>
  return %out : {{ out }}
}
