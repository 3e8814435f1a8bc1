// Each core: its part of one buffer into another, `n` times over; non-temporally if `streams`.
{% set V %}vector<{{ lanes }}xf32>{% endset -%}
{% set M %}memref<{{ elements }}xf32>{% endset -%}
func.func @copy(%x: {{ M }}, %y: {{ M }}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cores = arith.constant {{ cores }} : index
  scf.parallel (%core) = (%c0) to (%cores) step (%c1) {
    %part = arith.constant {{ elements // cores }} : index
    %step = arith.constant {{ chains * lanes }} : index
    %first = arith.muli %core, %part : index
    %end = arith.addi %first, %part : index
    scf.for %r = %c0 to %n step %c1 {
      scf.for %i = %first to %end step %step {
{%- for c in range(chains) %}
        %o{{ c }} = arith.constant {{ c * lanes }} : index
        %i{{ c }} = arith.addi %i, %o{{ c }} : index
        %v{{ c }} = vector.load %x[%i{{ c }}] : {{ M }}, {{ V }}
        vector.store %v{{ c }}, %y[%i{{ c }}] {% if streams %}{nontemporal = true, alignment = {{ lanes * 4 }}} {% endif %}: {{ M }}, {{ V }}
{%- endfor %}
      }
    }
    scf.reduce
  }
  return
}
