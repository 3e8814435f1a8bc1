// A space of a convolution, searched by `mdh tune conv2d/224x224x5x5 --schedule`.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %rows = transform.tune.knob<"rows"> options = [1, 2, 4, 8] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> options = [1, 2, 4] -> !transform.param<i64>
    %p = transform.tune.knob<"p"> options = [1, 2, 3, 4, 6] -> !transform.param<i64>
    %q = transform.tune.knob<"q"> options = [1, 2, 3] -> !transform.param<i64>
    %r = transform.tune.knob<"r"> options = [1, 5] -> !transform.param<i64>
    %s = transform.tune.knob<"s"> options = [1, 5] -> !transform.param<i64>
    transform.mdh.parts %c core {p: *} : !transform.any_op
    transform.mdh.parts %c L1 {p: %rows, q: *, r: *, s: *} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c L2 {q: %columns} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c register {p: %p, q: %q, r: %r, s: %s} : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c simd {q: 16} : !transform.any_op
    transform.yield
  }
}
