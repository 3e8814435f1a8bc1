!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @tiled(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %d : tensor<?x?xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["linalg.matmul"]} in %root : (!any) -> !any
    %t, %l = transform.structured.tile_using_forall %c num_threads [2, 4] : (!any) -> (!any, !any)
    transform.yield
  }
}
