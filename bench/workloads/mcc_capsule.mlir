// out[n, p, q, k, u, v] = sum over r, s, c, w of   image[n, t p + r, t q + s, c, u, w]
//                                                * filter[k, r, s, c, w, v]
// with u, v, w < 4: a convolution whose numbers are 4 x 4 matrices.
{% set image %}tensor<{{ n }}x{{ (p - 1) * t + r }}x{{ (q - 1) * t + s }}x{{ c }}x4x4x{{ T }}>{% endset -%}
{% set filter %}tensor<{{ k }}x{{ r }}x{{ s }}x{{ c }}x4x4x{{ T }}>{% endset -%}
{% set out %}tensor<{{ n }}x{{ p }}x{{ q }}x{{ k }}x4x4x{{ T }}>{% endset -%}
{% set points %}{{ n }}x{{ p }}x{{ q }}x{{ k }}x4x4x{{ r }}x{{ s }}x{{ c }}x4, {{ T }}, {{ T }}{% endset -%}
{% set sums %}{{ n }}x{{ p }}x{{ q }}x{{ k }}x4x4x1x1x1x1, {{ T }}{% endset -%}
func.func @mcc_capsule(%image: {{ image }}, %filter: {{ filter }}) -> {{ out }} {
  %init = tensor.empty() : {{ out }}
  %points = mdh.inp_view (n = {{ n }}, p = {{ p }}, q = {{ q }}, k = {{ k }}, u = 4, v = 4,
                          r = {{ r }}, s = {{ s }}, c = {{ c }}, w = 4)
      (%image[n, {{ t }} * p + r, {{ t }} * q + s, c, u, w] : {{ image }}, %filter[k, r, s, c, w, v] : {{ filter }})
      : !mdh.mda<{{ points }}>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, cc, cc, pw(addf), pw(addf), pw(addf), pw(addf))) %points
      : !mdh.mda<{{ points }}> -> !mdh.mda<{{ sums }}>
  %out = mdh.out_view (n, p, q, k, u, v, r, s, c, w) %sums -> (out = %init[n, p, q, k, u, v] : {{ out }})
      : !mdh.mda<{{ sums }}>
  return %out : {{ out }}
}
