// A dimension that combines and has no points when the program runs: its loop has no iterations, and the result
// is what it is without tiles.
//
// RUN: mdh-opt %s --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/../Run/Inputs/npy.py save %t.none.npy f4 "np.zeros((5, 0))"
// RUN: %python %S/../Run/Inputs/npy.py save %t.some.npy f4 "np.arange(35).reshape(5, 7)"
// RUN: mdh run %s --entry product --in %t.none.npy --out %t.a.npy
// RUN: mdh run %t.mlir --entry product --in %t.none.npy --out %t.b.npy
// RUN: cmp %t.a.npy %t.b.npy
// RUN: mdh run %t.mlir --entry product --in %t.some.npy --check
// RUN: mdh run %s --entry memory --in %t.none.npy --out %t.c.npy
// RUN: mdh run %t.mlir --entry memory --in %t.none.npy --out %t.d.npy
// RUN: cmp %t.c.npy %t.d.npy
// RUN: mdh run %t.mlir --entry last --in %t.some.npy --check
// RUN: not mdh run %t.mlir --entry last --in %t.none.npy 2>&1 | FileCheck %s --check-prefix NONE
// NONE: error: {{.*}}combines no points in dimension 'k', in tiles and by an operator that has no neutral element: expected at least one point, or 'neutral(...)' on the operator
// RUN: mdh run %t.mlir --entry triangle --in %t.some.npy 7 --out %t.e.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.e.npy a | FileCheck %s --check-prefix TRIANGLE
// TRIANGLE: 0 7 29 66 118
// RUN: mdh run %t.mlir --entry triangle --in %t.none.npy 0 --out %t.e.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.e.npy a | FileCheck %s --check-prefix TRIANGLE-NONE
// TRIANGLE-NONE: 0 0 0 0 0
// REQUIRES: numpy

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @product(
  // CHECK:       %[[ONES:.*]] = mdh.compute (i = %{{.*}})
  // CHECK-NEXT:    out_view(product_start = %{{.*}}[i]
  // CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[ONES]])
  func.func @product(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %s = mdh.compute (i = %n, k = %m)
      out_view(product = %init[i] : tensor<?xf32>)
      md_hom(id, (cc, pw(mulf)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>)
    return %s : tensor<?xf32>
  }

  // CHECK-LABEL: func.func @memory(
  // CHECK:       mdh.compute
  // CHECK-NEXT:    out_view(memory_start
  // CHECK:       scf.for
  func.func @memory(%x: memref<?x?xf32>, %y: memref<5xf32>) {
    %c1 = arith.constant 1 : index
    %m = memref.dim %x, %c1 : memref<?x?xf32>
    mdh.compute (i = 5, k = %m)
      out_view(memory = %y[i] : memref<5xf32>)
      md_hom(id, (cc, pw(maximumf)))
      inp_view(x = %x[i, k] : memref<?x?xf32>)
    return
  }

  // CHECK-LABEL: func.func @last(
  // CHECK:       cf.assert
  // CHECK:       scf.for
  func.func @last(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %s = mdh.compute (i = %n, k = %m)
      out_view(last = %init[i] : tensor<?xf32>)
      md_hom(id, (cc, pw(later)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>)
      combine later associative (%a: f32, %b: f32) {
        mdh.yield %b : f32
      }
    return %s : tensor<?xf32>
  }

  // A loop of the program's own: in its first iteration there is nothing to sum up.
  // CHECK-LABEL: func.func @triangle(
  // CHECK:       scf.for
  // CHECK:         mdh.compute
  // CHECK-NEXT:      out_view(triangle_start
  // CHECK:         scf.for
  func.func @triangle(%x: tensor<5x?xf32>, %n: index) -> tensor<5xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %seven = arith.constant 7.0 : f32
    %e = tensor.empty() : tensor<5xf32>
    %sevens = linalg.fill ins(%seven : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %sums = scf.for %i = %c0 to %c5 step %c1 iter_args(%so_far = %sevens) -> (tensor<5xf32>) {
      %m = affine.min affine_map<(i)[n] -> (i, n)>(%i)[%n]
      %end = arith.addi %i, %c1 : index
      %s = mdh.compute (i = %i to %end, k = %m)
        out_view(triangle = %so_far[i] : tensor<5xf32>)
        md_hom(id, (cc, pw(addf)))
        inp_view(x = %x[i, k] : tensor<5x?xf32>)
      scf.yield %s : tensor<5xf32>
    }
    return %sums : tensor<5xf32>
  }

  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %product = transform.mdh.match product in %root : (!any) -> !any
    %product_tile, %product_loops:2 = transform.structured.tile_using_for %product tile_sizes [2, 3] : (!any) -> (!any, !any, !any)
    %memory = transform.mdh.match memory in %root : (!any) -> !any
    %memory_tile, %memory_loop = transform.structured.tile_using_for %memory tile_sizes [0, 3] : (!any) -> (!any, !any)
    %last = transform.mdh.match last in %root : (!any) -> !any
    %last_tile, %last_loop = transform.structured.tile_using_for %last tile_sizes [0, 3] : (!any) -> (!any, !any)
    %triangle = transform.mdh.match triangle in %root : (!any) -> !any
    %triangle_tile, %triangle_loop = transform.structured.tile_using_for %triangle tile_sizes [0, 3] : (!any) -> (!any, !any)
    transform.yield
  }
}
