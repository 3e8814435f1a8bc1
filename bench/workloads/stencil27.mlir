// y[i, j, k] = the weighted mean of the 27 points around x[i, j, k]
//
// With padding = "zeros" what lies beyond x is zero, otherwise x has one more point at each side.
{% set is_padded = padding|default("none") == "zeros" -%}
{% set near = [" - 1", "", " + 1"] if is_padded else ["", " + 1", " + 2"] -%}
{% set m = n if is_padded else n + 2 -%}
{% set x %}tensor<{{ m }}x{{ m }}x{{ m }}x{{ T }}>{% endset -%}
{% set y %}tensor<{{ n }}x{{ n }}x{{ n }}x{{ T }}>{% endset -%}
{% set points %}{{ n }}x{{ n }}x{{ n }}{% endset -%}
{% set read %}{{ points }}{% for p in range(27) %}, {{ T }}{% endfor %}{% endset -%}
{% set distance = [1, 0, 1] -%}
func.func @stencil27(%x: {{ x }}) -> {{ y }} {
  %init = tensor.empty() : {{ y }}
  %points = mdh.inp_view (i = {{ n }}, j = {{ n }}, k = {{ n }})
      (%x
      {%- for a in near %}{% for b in near %}{% for c in near %}[i{{ a }}, j{{ b }}, k{{ c }}]{% endfor %}{% endfor %}{% endfor %}
      {%- if is_padded %} pad(0.0 : {{ T }}){% endif %} : {{ x }})
      : !mdh.mda<{{ read }}>
  %step = mdh.hom((
      {%- for p in range(27) %}%x{{ p }}: {{ T }}{% if not loop.last %}, {% endif %}{% endfor %}) {
      {%- for p in range(27) %}
      %w{{ p }} = arith.constant {{ 1 / 2 ** (3 + distance[p // 9] + distance[p // 3 % 3] + distance[p % 3]) }} : {{ T }}
      %m{{ p }} = arith.mulf %w{{ p }}, %x{{ p }} fastmath<contract> : {{ T }}
      {%- if p > 0 %}
      %s{{ p }} = arith.addf %{{ "m0" if p == 1 else "s" ~ (p - 1) }}, %m{{ p }} fastmath<contract> : {{ T }}
      {%- endif %}
      {%- endfor %}
      mdh.yield %s26 : {{ T }}
  }, (cc, cc, cc)) %points : !mdh.mda<{{ read }}> -> !mdh.mda<{{ points }}, {{ T }}>
  %y = mdh.out_view (i, j, k) %step -> (y = %init[i, j, k] : {{ y }}) : !mdh.mda<{{ points }}, {{ T }}>
  return %y : {{ y }}
}
