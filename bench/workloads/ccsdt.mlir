// T[a, b, c, d, e, f] = sum over g of A[..] * B[..], with the indices that `A` and `B` spell.
{% set extents = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g} -%}
{% macro tensor(letters) %}tensor<{% for l in letters|list %}{{ extents[l] }}x{% endfor %}{{ T }}>{% endmacro -%}
{% set left = tensor(A) -%}
{% set right = tensor(B) -%}
{% set out = tensor("abcdef") -%}
{% set points %}{{ a }}x{{ b }}x{{ c }}x{{ d }}x{{ e }}x{{ f }}x{{ g }}, {{ T }}, {{ T }}{% endset -%}
{% set sums %}{{ a }}x{{ b }}x{{ c }}x{{ d }}x{{ e }}x{{ f }}x1, {{ T }}{% endset -%}
func.func @ccsdt(%A: {{ left }}, %B: {{ right }}) -> {{ out }} {
  %init = tensor.empty() : {{ out }}
  %points = mdh.inp_view (a = {{ a }}, b = {{ b }}, c = {{ c }}, d = {{ d }}, e = {{ e }}, f = {{ f }}, g = {{ g }})
      (%A[{{ A|list|join(", ") }}] : {{ left }}, %B[{{ B|list|join(", ") }}] : {{ right }})
      : !mdh.mda<{{ points }}>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, cc, cc, pw(addf))) %points
      : !mdh.mda<{{ points }}> -> !mdh.mda<{{ sums }}>
  %T = mdh.out_view (a, b, c, d, e, f, g) %sums -> (T = %init[a, b, c, d, e, f] : {{ out }}) : !mdh.mda<{{ sums }}>
  return %T : {{ out }}
}
