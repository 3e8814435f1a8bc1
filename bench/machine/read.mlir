// Each core: the sum of its part of a buffer, `n` times over.
{% set V %}vector<{{ lanes }}xf32>{% endset -%}
{% set M %}memref<{{ elements }}xf32>{% endset -%}
{% set S %}memref<{{ cores * 3 * lanes }}xf32>{% endset -%}
func.func @read(%x: {{ M }}, %y: {{ S }}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cores = arith.constant {{ cores }} : index
  scf.parallel (%core) = (%c0) to (%cores) step (%c1) {
    %part = arith.constant {{ elements // cores }} : index
    %step = arith.constant {{ chains * lanes }} : index
    %first = arith.muli %core, %part : index
    %end = arith.addi %first, %part : index
    %zero = arith.constant dense<0.0> : {{ V }}
    %all:{{ chains }} = scf.for %r = %c0 to %n step %c1
        iter_args({% for c in range(chains) %}%z{{ c }} = %zero{{ ", " if not loop.last }}{% endfor %})
        -> ({% for c in range(chains) %}{{ V }}{{ ", " if not loop.last }}{% endfor %}) {
      %once:{{ chains }} = scf.for %i = %first to %end step %step
          iter_args({% for c in range(chains) %}%s{{ c }} = %z{{ c }}{{ ", " if not loop.last }}{% endfor %})
          -> ({% for c in range(chains) %}{{ V }}{{ ", " if not loop.last }}{% endfor %}) {
{%- for c in range(chains) %}
        %o{{ c }} = arith.constant {{ c * lanes }} : index
        %i{{ c }} = arith.addi %i, %o{{ c }} : index
        %v{{ c }} = vector.load %x[%i{{ c }}] : {{ M }}, {{ V }}
        %t{{ c }} = arith.addf %s{{ c }}, %v{{ c }} : {{ V }}
{%- endfor %}
        scf.yield {% for c in range(chains) %}%t{{ c }}{{ ", " if not loop.last }}{% endfor %} : {% for c in range(chains) %}{{ V }}{{ ", " if not loop.last }}{% endfor %}
      }
      scf.yield {% for c in range(chains) %}%once#{{ c }}{{ ", " if not loop.last }}{% endfor %} : {% for c in range(chains) %}{{ V }}{{ ", " if not loop.last }}{% endfor %}
    }
    %r0 = arith.addf %all#0, %all#0 : {{ V }}
{%- for c in range(1, chains) %}
    %r{{ c }} = arith.addf %r{{ c - 1 }}, %all#{{ c }} : {{ V }}
{%- endfor %}
    %stride = arith.constant {{ 3 * lanes }} : index
    %at = arith.muli %core, %stride : index
    vector.store %r{{ chains - 1 }}, %y[%at] : {{ S }}, {{ V }}
    scf.reduce
  }
  return
}
