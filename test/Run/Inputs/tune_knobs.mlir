// Rows and columns of registers are left open.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %rows = transform.tune.knob<"rows"> options = [2, 3, 4] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> options = [1, 2] -> !transform.param<i64>
    transform.mdh.parts %c main {k: *} : !transform.any_op
    transform.mdh.parts %c core {i: *, j: *} : !transform.any_op
    transform.mdh.parts %c register {i: %rows, j: %columns} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c simd {j: 16} : !transform.any_op
    transform.mdh.lower %c : !transform.any_op
    transform.yield
  }
}
