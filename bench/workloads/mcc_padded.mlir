// out[n, p, q, k] = sum over r, s, c of image[n, t p + r - R / 2, t q + s - S / 2, c] * filter[k, r, s, c]
//
// Images are t times as large as their results: what lies beyond them is zero.
{% set points %}{{ n }}x{{ p }}x{{ q }}x{{ k }}x{{ r }}x{{ s }}x{{ c }}, {{ T }}, {{ T }}{% endset -%}
{% set sums %}{{ n }}x{{ p }}x{{ q }}x{{ k }}x1x1x1, {{ T }}{% endset -%}
{% set image %}tensor<{{ n }}x{{ t * p }}x{{ t * q }}x{{ c }}x{{ T }}>{% endset -%}
{% set filter %}tensor<{{ k }}x{{ r }}x{{ s }}x{{ c }}x{{ T }}>{% endset -%}
{% set out %}tensor<{{ n }}x{{ p }}x{{ q }}x{{ k }}x{{ T }}>{% endset -%}
func.func @mcc_padded(%image: {{ image }}, %filter: {{ filter }}) -> {{ out }} {
  %init = tensor.empty() : {{ out }}
  %points = mdh.inp_view (n = {{ n }}, p = {{ p }}, q = {{ q }}, k = {{ k }}, r = {{ r }}, s = {{ s }}, c = {{ c }})
      (%image[n, {{ t }} * p + r - {{ r // 2 }}, {{ t }} * q + s - {{ s // 2 }}, c] pad(0.0 : {{ T }}) : {{ image }},
       %filter[k, r, s, c] : {{ filter }})
      : !mdh.mda<{{ points }}>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf))) %points
      : !mdh.mda<{{ points }}> -> !mdh.mda<{{ sums }}>
  %out = mdh.out_view (n, p, q, k, r, s, c) %sums -> (out = %init[n, p, q, k] : {{ out }}) : !mdh.mda<{{ sums }}>
  return %out : {{ out }}
}
