// Upstream's threads around a product of matrices.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @tiles(%A: tensor<1024x1024xf32>, %B: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %init = tensor.empty() : tensor<1024x1024xf32>
    %C = mdh.compute (i = 1024, j = 1024, k = 1024)
      out_view(C = %init[i, j] : tensor<1024x1024xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<1024x1024xf32>, B = %B[k, j] : tensor<1024x1024xf32>)
    return %C : tensor<1024x1024xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_forall %C num_threads [4] : (!any) -> (!any, !any)
    transform.yield
  }
}
