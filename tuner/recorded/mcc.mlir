// A space of a convolution of many channels, searched by `mdh tune mcc/resnet50-1 --schedule`.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %rows = transform.tune.knob<"rows"> options = [1, 2, 4, 8] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> options = [1, 2, 4, 8] -> !transform.param<i64>
    %p = transform.tune.knob<"p"> options = [1, 2] -> !transform.param<i64>
    %q = transform.tune.knob<"q"> options = [1, 2, 3, 4, 7] -> !transform.param<i64>
    %k = transform.tune.knob<"k"> options = [1, 2, 4] -> !transform.param<i64>
    transform.mdh.parts %c core {p: *, q: *} : !transform.any_op
    transform.mdh.parts %c L2 {p: %rows, q: %columns, k: *} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c L1 {r: *, s: *, c: *} : !transform.any_op
    transform.mdh.parts %c register {p: %p, q: %q, k: %k} : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c simd {k: 16} : !transform.any_op
    transform.yield
  }
}
