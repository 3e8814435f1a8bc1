// A sum by four threads: the program at the top of passes/src/tiling_interface/partial.rs.
module attributes {transform.with_named_sequence} {
  func.func @sum(%x: tensor<64xf32>, %init: tensor<f32>) -> tensor<f32> {
    %s = mdh.compute (k = 64)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[k] : tensor<64xf32>)
    return %s : tensor<f32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %s = transform.mdh.match s in %root : (!transform.any_op) -> !transform.any_op
    %start, %part, %merge, %threads = transform.structured.tile_reduction_using_forall %s by num_threads = [4]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
