// Each core: independent chains of multiplications and additions, `n` times.
{% set S %}vector<{{ lanes }}x{{ sum }}>{% endset -%}
{% set V %}vector<{{ lanes * group }}x{{ factor }}>{% endset -%}
{% set W %}vector<{{ lanes }}xi32>{% endset -%}
{% set X %}memref<{{ cores * 3 * lanes * group }}x{{ factor }}>{% endset -%}
{% set Y %}memref<{{ cores * 3 * lanes }}x{{ sum }}>{% endset -%}
func.func @fma(%x: {{ X }}, %y: {{ Y }}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cores = arith.constant {{ cores }} : index
  scf.parallel (%core) = (%c0) to (%cores) step (%c1) {
    %x_stride = arith.constant {{ 3 * lanes * group }} : index
    %y_stride = arith.constant {{ 3 * lanes }} : index
    %x_at = arith.muli %core, %x_stride : index
    %y_at = arith.muli %core, %y_stride : index
    %next = arith.constant {{ lanes * group }} : index
    %x_next = arith.addi %x_at, %next : index
    %s = vector.load %y[%y_at] : {{ Y }}, {{ S }}
    %a = vector.load %x[%x_at] : {{ X }}, {{ V }}
    %b = vector.load %x[%x_next] : {{ X }}, {{ V }}
{%- if by == "vdpbf16ps" %}
    %a_words = vector.bitcast %a : {{ V }} to {{ W }}
    %b_words = vector.bitcast %b : {{ V }} to {{ W }}
{%- endif %}
    %last:{{ chains }} = scf.for %i = %c0 to %n step %c1
        iter_args({% for c in range(chains) %}%s{{ c }} = %s{{ ", " if not loop.last }}{% endfor %})
        -> ({% for c in range(chains) %}{{ S }}{{ ", " if not loop.last }}{% endfor %}) {
{%- for c in range(chains) %}
{%- if by == "fma" %}
      %t{{ c }} = vector.fma %a, %b, %s{{ c }} : {{ S }}
{%- elif by == "multiply-add" %}
      %p{{ c }} = arith.muli %s{{ c }}, %a : {{ S }}
      %t{{ c }} = arith.addi %p{{ c }}, %b : {{ S }}
{%- elif by == "vdpbf16ps" %}
      %t{{ c }} = llvm.inline_asm "vdpbf16ps $3, $2, $0", "=v,0,v,v" %s{{ c }}, %a_words, %b_words
          : ({{ S }}, {{ W }}, {{ W }}) -> {{ S }}
{%- else %}
      %t{{ c }} = llvm.call_intrinsic "{{ by }}"(%s{{ c }}, %a, %b)
          : ({{ S }}, {{ V }}, {{ V }}) -> {{ S }}
{%- endif %}
{%- endfor %}
      scf.yield {% for c in range(chains) %}%t{{ c }}{{ ", " if not loop.last }}{% endfor %} : {% for c in range(chains) %}{{ S }}{{ ", " if not loop.last }}{% endfor %}
    }
{%- set add = "arith.addi" if sum in ("i32", "i64") else "arith.addf" %}
    %r0 = {{ add }} %last#0, %last#0 : {{ S }}
{%- for c in range(1, chains) %}
    %r{{ c }} = {{ add }} %r{{ c - 1 }}, %last#{{ c }} : {{ S }}
{%- endfor %}
    vector.store %r{{ chains - 1 }}, %y[%y_at] : {{ Y }}, {{ S }}
    scf.reduce
  }
  return
}
