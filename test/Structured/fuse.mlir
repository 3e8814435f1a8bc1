// What makes a destination, and upstream's fusion: where loops carry the destination, it stays before them if a tile
// finds there what others have left, or no tile writes all.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "np.arange(1, 29).reshape(4, 7)" \
// RUN:   %t.xi.npy i4 "np.arange(20).reshape(4, 5) ** 2 % 31" %t.none.npy i4 "np.zeros((4, 0))" \
// RUN:   %t.y.npy f4 "[1, 2, 3, 4]" %t.z.npy f4 "np.arange(12)" %t.b.npy f4 "np.eye(7, 3)" \
// RUN:   %t.empty.npy f4 "np.zeros((0, 3))" %t.nothing.npy f4 "np.zeros((4, 0))"
// RUN: mdh-opt %s --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
//
// RUN: mdh run %t.mlir --entry open --in %t.x.npy 7 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix OPEN
// OPEN: 28 77 126 175
// RUN: mdh run %t.mlir --entry open --in %t.nothing.npy 0 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix OPEN-NOTHING
// OPEN-NOTHING: 0 0 0 0
// RUN: mdh run %t.mlir --entry carried --in %t.x.npy %t.y.npy --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix CARRIED
// CARRIED: 30 81 132 183
// RUN: mdh run %t.mlir --entry computed_part --in %t.z.npy --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix COMPUTED
// COMPUTED: 0 2 4 6 8 10 12 14 16 18 20 22
// RUN: mdh run %t.mlir --entry filled_part --in %t.z.npy --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix FILLED
// FILLED: 7 2 4 6 8 10 12 14 16 18 20 7
// RUN: mdh run %t.mlir --entry beside --in %t.xi.npy 5 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix BESIDE
// BESIDE: 7 69 148 208
// RUN: mdh run %t.mlir --entry beside --in %t.none.npy 0 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix BESIDE-NOTHING
// BESIDE-NOTHING: 7 0 0 0
// RUN: mdh run %t.mlir --entry maybe --in %t.x.npy %t.y.npy 1 7 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix MAYBE
// MAYBE: 29 79 129 179
// RUN: mdh run %t.mlir --entry maybe --in %t.nothing.npy %t.y.npy 1 0 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix MAYBE-NOTHING
// MAYBE-NOTHING: 1 2 3 4
// RUN: mdh run %t.mlir --entry maybe --in %t.nothing.npy %t.y.npy 0 0 --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix NO-CARRY
// NO-CARRY: 0 0 0 0
//
// The same of linalg, raised before the script.
// RUN: mdh-opt %S/Inputs/matmul.mlir --mdh-raise-linalg --transform-interpreter --canonicalize --cse -o %t.raised.mlir
// RUN: FileCheck %S/Inputs/matmul.mlir --input-file=%t.raised.mlir
// RUN: mdh run %t.raised.mlir --entry matmul --in %t.x.npy %t.b.npy --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy a | FileCheck %s --check-prefix PRODUCT
// PRODUCT:      3 4 5
// PRODUCT-NEXT: 10 11 12
// PRODUCT-NEXT: 17 18 19
// PRODUCT-NEXT: 24 25 26
// RUN: mdh run %t.raised.mlir --entry matmul --in %t.nothing.npy %t.empty.npy --out %t.o.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.o.npy "a.sum()" | FileCheck %s --check-prefix EMPTY
// EMPTY: 24
// REQUIRES: numpy

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // The start is stored before the loops, of which none writes it again.
  // CHECK-LABEL: func.func @open(
  // CHECK:       %[[START:.*]] = mdh.compute (i = 4)
  // CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
  // CHECK:         scf.for
  // CHECK-NOT:       out_view(open_start
  // CHECK:           out_view(open =
  func.func @open(%x: tensor<4x?xf32>, %n: index) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %s = mdh.compute (i = 4, k = %n)
      out_view(open = %e[i] : tensor<4xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<4x?xf32>)
    return %s : tensor<4xf32>
  }

  // A carry from another computation, which is the destination, too.
  // CHECK-LABEL: func.func @carried(
  // CHECK:       %[[TWICE:.*]] = mdh.compute
  // CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[TWICE]])
  func.func @carried(%x: tensor<4x7xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %d = mdh.compute (i = 4)
      out_view(twice = %e[i] : tensor<4xf32>)
      md_hom(addf, (cc))
      inp_view(y = %y[i][i] : tensor<4xf32>)
    %s = mdh.compute (i = 4, k = 7)
      out_view(carried = %d[i] : tensor<4xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<4x7xf32>)
      carry k (b = %d[i] : tensor<4xf32>)
    return %s : tensor<4xf32>
  }

  // Tiles write what is inside only.
  // CHECK-LABEL: func.func @computed_part(
  // CHECK:       %[[TWICE:.*]] = mdh.compute
  // CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[TWICE]])
  func.func @computed_part(%y: tensor<12xf32>) -> tensor<12xf32> {
    %e = tensor.empty() : tensor<12xf32>
    %g = mdh.compute (i = 12)
      out_view(g = %e[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(y = %y[i][i] : tensor<12xf32>)
    %s = mdh.compute (i = 1 to 11)
      out_view(computed_part = %g[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(y = %y[i - 1][i + 1] : tensor<12xf32>)
    return %s : tensor<12xf32>
  }

  // CHECK-LABEL: func.func @filled_part(
  // CHECK:       %[[SEVENS:.*]] = linalg.fill
  // CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[SEVENS]])
  func.func @filled_part(%y: tensor<12xf32>) -> tensor<12xf32> {
    %e = tensor.empty() : tensor<12xf32>
    %z = arith.constant 7.0 : f32
    %g = linalg.fill ins(%z : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
    %s = mdh.compute (i = 1 to 11)
      out_view(filled_part = %g[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(y = %y[i - 1][i + 1] : tensor<12xf32>)
    return %s : tensor<12xf32>
  }

  // Tiles that each have their part of all of it: what makes it is fused.
  // CHECK-LABEL: func.func @whole(
  // CHECK-NOT:   linalg.fill
  // CHECK:       scf.for
  // CHECK:         linalg.fill
  // CHECK:         mdh.compute
  func.func @whole(%y: tensor<12xf32>) -> tensor<12xf32> {
    %e = tensor.empty() : tensor<12xf32>
    %z = arith.constant 7.0 : f32
    %g = linalg.fill ins(%z : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
    %s = mdh.compute (i = 12)
      out_view(whole = %g[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(y = %y[i][i] : tensor<12xf32>)
    return %s : tensor<12xf32>
  }

  // A prefix sum beside a sum without points: all that it writes is the neutral element then.
  func.func @beside(%x: tensor<4x?xi32>, %n: index) -> tensor<4xi32> {
    %c = arith.constant 7 : i32
    %e = tensor.empty() : tensor<4xi32>
    %d = linalg.fill ins(%c : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
    %s = mdh.compute (i = 1 to 4, k = %n)
      out_view(beside = %d[i] : tensor<4xi32>)
      md_hom(id, (ps(addi), pw(addi)))
      inp_view(x = %x[i, k] : tensor<4x?xi32>)
    return %s : tensor<4xi32>
  }

  // What has no elements needs no slice: all that is read is the padding.
  // CHECK-LABEL: func.func @padding(
  // CHECK:       scf.for
  // CHECK:         inp_view(x = %{{.*}}[i] pad(3.000000e+00 : f32) : tensor<0xf32>)
  func.func @padding(%x: tensor<0xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %s = mdh.compute (i = 4)
      out_view(padding = %e[i] : tensor<4xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] pad(3.0 : f32) : tensor<0xf32>)
    return %s : tensor<4xf32>
  }

  // A carry that may be there, in its destination.
  func.func @maybe(%x: tensor<4x?xf32>, %y: tensor<4xf32>, %is: i1, %n: index) -> tensor<4xf32> {
    %s = mdh.compute (i = 4, k = %n)
      out_view(maybe = %y[i] : tensor<4xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<4x?xf32>)
      carry k (b = %y[i] : tensor<4xf32>) valid %is
    return %s : tensor<4xf32>
  }

  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %open = transform.mdh.match open in %root : (!any) -> !any
    %open_tile, %open_loops:2 = transform.structured.fuse %open tile_sizes [2, 3] : (!any) -> (!any, !any, !any)
    %carried = transform.mdh.match carried in %root : (!any) -> !any
    %carried_tile, %carried_loops:2 = transform.structured.fuse %carried tile_sizes [2, 3] {apply_cleanup} : (!any) -> (!any, !any, !any)
    %computed = transform.mdh.match computed_part in %root : (!any) -> !any
    %computed_tile, %computed_loop = transform.structured.fuse %computed tile_sizes [5] : (!any) -> (!any, !any)
    %filled = transform.mdh.match filled_part in %root : (!any) -> !any
    %filled_tile, %filled_loop = transform.structured.fuse %filled tile_sizes [5] : (!any) -> (!any, !any)
    %whole = transform.mdh.match whole in %root : (!any) -> !any
    %whole_tile, %whole_loop = transform.structured.fuse %whole tile_sizes [5] : (!any) -> (!any, !any)
    %beside = transform.mdh.match beside in %root : (!any) -> !any
    %beside_tile, %beside_loop = transform.structured.tile_using_for %beside tile_sizes [0, 2] : (!any) -> (!any, !any)
    %padding = transform.mdh.match padding in %root : (!any) -> !any
    %padding_tile, %padding_loop = transform.structured.tile_using_for %padding tile_sizes [2] : (!any) -> (!any, !any)
    %maybe = transform.mdh.match maybe in %root : (!any) -> !any
    %maybe_tile, %maybe_loops:2 = transform.structured.fuse %maybe tile_sizes [2, 3] : (!any) -> (!any, !any, !any)
    transform.yield
  }
}
