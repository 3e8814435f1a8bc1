// out[p, q] = sum over r, s of image[p + r - R / 2, q + s - S / 2] * filter[r, s]
//
// The image is as large as the result: what lies beyond it is zero.
{% set image %}tensor<{{ p }}x{{ q }}x{{ T }}>{% endset -%}
func.func @conv2d_padded(%image: {{ image }}, %filter: tensor<{{ r }}x{{ s }}x{{ T }}>) -> {{ image }} {
  %init = tensor.empty() : {{ image }}
  %points = mdh.inp_view (p = {{ p }}, q = {{ q }}, r = {{ r }}, s = {{ s }})
      (%image[p + r - {{ r // 2 }}, q + s - {{ s // 2 }}] pad(0.0 : {{ T }}) : {{ image }},
       %filter[r, s] : tensor<{{ r }}x{{ s }}x{{ T }}>)
      : !mdh.mda<{{ p }}x{{ q }}x{{ r }}x{{ s }}, {{ T }}, {{ T }}>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf), pw(addf))) %points
      : !mdh.mda<{{ p }}x{{ q }}x{{ r }}x{{ s }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ p }}x{{ q }}x1x1, {{ T }}>
  %out = mdh.out_view (p, q, r, s) %sums -> (out = %init[p, q] : {{ image }})
      : !mdh.mda<{{ p }}x{{ q }}x1x1, {{ T }}>
  return %out : {{ image }}
}
