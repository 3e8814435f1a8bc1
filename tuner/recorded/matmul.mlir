// A space of a product of matrices, searched by `mdh tune matmul/16x1000x2048 --schedule`.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %outer = transform.tune.knob<"outer"> options = [1, 2, 4, 8] -> !transform.param<i64>
    %steps = transform.tune.knob<"steps"> options = [16, 64, 256, 2048] -> !transform.param<i64>
    %rows = transform.tune.knob<"rows"> options = [1, 2, 4, 8, 16] -> !transform.param<i64>
    %columns = transform.tune.knob<"columns"> options = [1, 2, 3, 4] -> !transform.param<i64>
    %unroll = transform.tune.knob<"unroll"> options = [1, 2, 4] -> !transform.param<i64>
    transform.mdh.parts %c L3 {k: *} : !transform.any_op
    transform.mdh.parts %c core {i: *, j: *} : !transform.any_op
    transform.mdh.parts %c L2 {j: %outer} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c L1 {k: %steps} : !transform.any_op, !transform.param<i64>
    transform.mdh.parts %c register {i: %rows, j: %columns, k: %unroll} : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.mdh.parts %c simd {j: 16} : !transform.any_op
    transform.yield
  }
}
