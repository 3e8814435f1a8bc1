// A space of a matrix times a vector, searched by `mdh tune matvec/4096x4096 --schedule`.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %parts = transform.tune.knob<"parts"> options = [1, 2, 4, 16] -> !transform.param<i64>
    %outer = transform.tune.knob<"outer"> options = [1, 2, 4, 8, 16, 32] -> !transform.param<i64>
    %rows = transform.tune.knob<"rows"> options = [1, 2, 3, 4, 6, 8] -> !transform.param<i64>
    %unroll = transform.tune.knob<"unroll"> options = [1, 2, 4, 8] -> !transform.param<i64>
    transform.mdh.parts %c main {i: *} : !transform.any_op
    transform.mdh.parts %c core {i: %parts} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c L2 {i: %outer} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c L1 {k: *} : !transform.any_op
    transform.mdh.parts %c register {i: %rows, k: %unroll} : !transform.any_op, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c simd {k: 16} : !transform.any_op
    transform.yield
  }
}
