// A product of linalg of any size, and what fills its destination.
!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @matmul(
  // CHECK:       %[[TWOS:.*]] = linalg.fill
  // CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[TWOS]])
  // CHECK-COUNT-2: scf.for
  // CHECK:         md_hom(mulf, (cc, cc, pw(addf)))
  func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %two = arith.constant 2.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x?xf32>
    %n = tensor.dim %b, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %f = linalg.fill ins(%two : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %c : tensor<?x?xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    %tile, %loops:3 = transform.structured.fuse %c tile_sizes [2, 2, 3] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}
