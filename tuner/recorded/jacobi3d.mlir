// A space of a stencil, searched by `mdh tune jacobi3d/256 --schedule`.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %parts = transform.tune.knob<"parts"> options = [1, 2, 4] -> !transform.param<i64>
    %rows = transform.tune.knob<"rows"> options = [8, 16, 32, 64, 254] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> options = [1, 2, 4, 16] -> !transform.param<i64>
    %j = transform.tune.knob<"j"> options = [1, 2, 4] -> !transform.param<i64>
    %k = transform.tune.knob<"k"> options = [1, 2, 4] -> !transform.param<i64>
    transform.mdh.parts %c main {i: *} : !transform.any_op
    transform.mdh.parts %c core {i: %parts} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c L3 {j: *} : !transform.any_op
    transform.mdh.parts %c L2 {j: %rows, k: *} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c L1 {k: %columns} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c register {j: %j, k: %k} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c simd {k: 16} : !transform.any_op
    transform.yield
  }
}
