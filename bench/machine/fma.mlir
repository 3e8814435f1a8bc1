// Each core: independent chains of fused multiply-adds, `n` times.
{% set V %}vector<{{ lanes }}x{{ T }}>{% endset -%}
{% set M %}memref<{{ cores * 3 * lanes }}x{{ T }}>{% endset -%}
func.func @fma(%x: {{ M }}, %y: {{ M }}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cores = arith.constant {{ cores }} : index
  scf.parallel (%core) = (%c0) to (%cores) step (%c1) {
    %stride = arith.constant {{ 3 * lanes }} : index
    %at = arith.muli %core, %stride : index
    %a = vector.load %x[%at] : {{ M }}, {{ V }}
    %b = vector.load %y[%at] : {{ M }}, {{ V }}
    %last:{{ chains }} = scf.for %i = %c0 to %n step %c1
        iter_args({% for c in range(chains) %}%s{{ c }} = %a{{ ", " if not loop.last }}{% endfor %})
        -> ({% for c in range(chains) %}{{ V }}{{ ", " if not loop.last }}{% endfor %}) {
{%- for c in range(chains) %}
      %t{{ c }} = vector.fma %a, %b, %s{{ c }} : {{ V }}
{%- endfor %}
      scf.yield {% for c in range(chains) %}%t{{ c }}{{ ", " if not loop.last }}{% endfor %} : {% for c in range(chains) %}{{ V }}{{ ", " if not loop.last }}{% endfor %}
    }
    %r0 = arith.addf %last#0, %last#0 : {{ V }}
{%- for c in range(1, chains) %}
    %r{{ c }} = arith.addf %r{{ c - 1 }}, %last#{{ c }} : {{ V }}
{%- endfor %}
    vector.store %r{{ chains - 1 }}, %y[%at] : {{ M }}, {{ V }}
    scf.reduce
  }
  return
}
