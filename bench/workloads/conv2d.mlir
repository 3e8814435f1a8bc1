// out[p, q] = sum over r, s of image[p + r, q + s] * filter[r, s]
{% set image %}tensor<{{ p + r - 1 }}x{{ q + s - 1 }}x{{ T }}>{% endset -%}
func.func @conv2d(%image: {{ image }}, %filter: tensor<{{ r }}x{{ s }}x{{ T }}>) -> tensor<{{ p }}x{{ q }}x{{ T }}> {
  %init = tensor.empty() : tensor<{{ p }}x{{ q }}x{{ T }}>
  %points = mdh.inp_view (p = {{ p }}, q = {{ q }}, r = {{ r }}, s = {{ s }})
      (%image[p + r, q + s] : {{ image }}, %filter[r, s] : tensor<{{ r }}x{{ s }}x{{ T }}>)
      : !mdh.mda<{{ p }}x{{ q }}x{{ r }}x{{ s }}, {{ T }}, {{ T }}>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf), pw(addf))) %points
      : !mdh.mda<{{ p }}x{{ q }}x{{ r }}x{{ s }}, {{ T }}, {{ T }}> -> !mdh.mda<{{ p }}x{{ q }}x1x1, {{ T }}>
  %out = mdh.out_view (p, q, r, s) %sums -> (out = %init[p, q] : tensor<{{ p }}x{{ q }}x{{ T }}>)
      : !mdh.mda<{{ p }}x{{ q }}x1x1, {{ T }}>
  return %out : tensor<{{ p }}x{{ q }}x{{ T }}>
}
