func.func @f(%M: tensor<64x32xf32>, %v: tensor<32xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {
  %w = mdh.compute (i = 64, k = 32)
    out_view(w = %init[i] : tensor<64xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : tensor<64x32xf32>, v = %v[k] : tensor<32xf32>)
  return %w : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %c tile_sizes [8, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
