// y[i, j] = the weighted mean of the nine points around x[i, j]
//
// With padding = "zeros" what lies beyond x is zero, otherwise x has one more point at each side.
{% set is_padded = padding|default("none") == "zeros" -%}
{% set near = [" - 1", "", " + 1"] if is_padded else ["", " + 1", " + 2"] -%}
{% set m = n if is_padded else n + 2 -%}
{% set x %}tensor<{{ m }}x{{ m }}x{{ T }}>{% endset -%}
{% set y %}tensor<{{ n }}x{{ n }}x{{ T }}>{% endset -%}
{% set points %}{{ n }}x{{ n }}{% endset -%}
{% set read %}{{ points }}{% for p in range(9) %}, {{ T }}{% endfor %}{% endset -%}
{% set distance = [1, 0, 1] -%}
func.func @stencil9(%x: {{ x }}) -> {{ y }} {
  %init = tensor.empty() : {{ y }}
  %points = mdh.inp_view (i = {{ n }}, j = {{ n }})
      (%x
      {%- for a in near %}{% for b in near %}[i{{ a }}, j{{ b }}]{% endfor %}{% endfor %}
      {%- if is_padded %} pad(0.0 : {{ T }}){% endif %} : {{ x }})
      : !mdh.mda<{{ read }}>
  %step = mdh.hom((
      {%- for p in range(9) %}%x{{ p }}: {{ T }}{% if not loop.last %}, {% endif %}{% endfor %}) {
      {%- for p in range(9) %}
      %w{{ p }} = arith.constant {{ 1 / 2 ** (2 + distance[p // 3] + distance[p % 3]) }} : {{ T }}
      %m{{ p }} = arith.mulf %w{{ p }}, %x{{ p }} fastmath<contract> : {{ T }}
      {%- if p > 0 %}
      %s{{ p }} = arith.addf %{{ "m0" if p == 1 else "s" ~ (p - 1) }}, %m{{ p }} fastmath<contract> : {{ T }}
      {%- endif %}
      {%- endfor %}
      mdh.yield %s8 : {{ T }}
  }, (cc, cc)) %points : !mdh.mda<{{ read }}> -> !mdh.mda<{{ points }}, {{ T }}>
  %y = mdh.out_view (i, j) %step -> (y = %init[i, j] : {{ y }}) : !mdh.mda<{{ points }}, {{ T }}>
  return %y : {{ y }}
}
