// Tiles of tiles, in another order; several dimensions that combine; memrefs; sizes that leave
// nothing for some threads; and a schedule for a tile, in one script. Run as in tile.mlir.
//
// RUN: mdh-opt %s --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/same.py %s %t.mlir dynamic:23x17
// REQUIRES: numpy

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // A tile of a tile receives something if either comes after another one.
  // CHECK-LABEL: func.func @twice(
  // CHECK-COUNT-6: scf.for
  // CHECK:           %[[LATER:.*]] = arith.ori
  // CHECK:           mdh.compute
  // CHECK:             carry k (C_before = {{.*}}) valid %[[LATER]]
  // CHECK-NEXT:        schedule(
  func.func @twice(%A: tensor<37x41xf32>, %B: tensor<41x29xf32>) -> tensor<37x29xf32> {
    %init = tensor.empty() : tensor<37x29xf32>
    %C = mdh.compute (i = 37, j = 29, k = 41)
      out_view(C = %init[i, j] : tensor<37x29xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<37x41xf32>, B = %B[k, j] : tensor<41x29xf32>)
    return %C : tensor<37x29xf32>
  }

  // CHECK-LABEL: func.func @sums(
  // CHECK:       arith.ori
  // CHECK:       mdh.compute
  func.func @sums(%x: tensor<7x11x13xi32>) -> tensor<7xi32> {
    %init = tensor.empty() : tensor<7xi32>
    %y = mdh.compute (i = 7, k = 11, l = 13)
      out_view(sums = %init[i] : tensor<7xi32>)
      md_hom(id, (cc, pw(addi), pw(addi)))
      inp_view(x = %x[i, k, l] : tensor<7x11x13xi32>)
    return %y : tensor<7xi32>
  }

  // One of the two dimensions that are scanned, the inner one.
  // CHECK-LABEL: func.func @area(
  // CHECK:       carry j (area_before
  func.func @area(%x: tensor<12x9xi32>) -> tensor<12x9xi32> {
    %init = tensor.empty() : tensor<12x9xi32>
    %y = mdh.compute (i = 12, j = 9)
      out_view(area = %init[i, j] : tensor<12x9xi32>)
      md_hom(id, (ps(addi), ps(addi)))
      inp_view(x = %x[i, j] : tensor<12x9xi32>)
    return %y : tensor<12x9xi32>
  }

  // Memrefs need no slices: indices are the whole computation's.
  // CHECK-LABEL: func.func @memory(
  // CHECK-COUNT-2: scf.for
  // CHECK-NOT:       subview
  // CHECK:           mdh.compute
  // CHECK:             out_view(rows = %arg1[i] : memref<12xi32>)
  // CHECK:             carry k (rows_before = %arg1[i] : memref<12xi32>)
  func.func @memory(%x: memref<12x9xi32>, %y: memref<12xi32>) {
    mdh.compute (i = 12, k = 9)
      out_view(rows = %y[i] : memref<12xi32>)
      md_hom(id, (cc, pw(addi)))
      inp_view(x = %x[i, k] : memref<12x9xi32>)
    return
  }

  // CHECK-LABEL: func.func @prefixes(
  // CHECK:       scf.for
  // CHECK-NOT:   mdh.compute
  func.func @prefixes(%x: memref<12xi32>, %y: memref<12xi32>) {
    mdh.compute (i = 12)
      out_view(prefixes = %y[i] : memref<12xi32>)
      md_hom(id, (ps(addi)))
      inp_view(x = %x[11 - i] : memref<12xi32>)
    return
  }

  // The ninth of nine threads has nothing to do, and the eighth a part of a tile.
  // CHECK-LABEL: func.func @idle(
  // CHECK:       scf.forall
  func.func @idle(%x: tensor<17xi32>) -> tensor<15xi32> {
    %init = tensor.empty() : tensor<15xi32>
    %y = mdh.compute (i = 15)
      out_view(idle = %init[i] : tensor<15xi32>)
      md_hom((%a: i32, %b: i32) {
        %c = arith.subi %a, %b : i32
        mdh.yield %c : i32
      }, (cc))
      inp_view(x = %x[i][i + 2] : tensor<17xi32>)
    return %y : tensor<15xi32>
  }

  // Two components in one output, whose tiles reach over each other, one after the other.
  // CHECK-LABEL: func.func @interleaved(
  // CHECK:       scf.for
  // CHECK:         mdh.compute
  func.func @interleaved(%x: tensor<9xi32>) -> tensor<18xi32> {
    %init = tensor.empty() : tensor<18xi32>
    %y = mdh.compute (i = 9)
      out_view(both = %init[i][i + 9] : tensor<18xi32>)
      md_hom((%a: i32) {
        %c = arith.addi %a, %a : i32
        mdh.yield %a, %c : i32, i32
      }, (cc))
      inp_view(x = %x[i] : tensor<9xi32>)
    return %y : tensor<18xi32>
  }

  // An index that is not affine has all of its axis in each tile.
  // CHECK-LABEL: func.func @halves(
  // CHECK:       inp_view(x = %arg0[i floordiv 2] : tensor<8xi32>)
  func.func @halves(%x: tensor<8xi32>) -> tensor<16xi32> {
    %init = tensor.empty() : tensor<16xi32>
    %y = mdh.compute (i = 16)
      out_view(halves = %init[i] : tensor<16xi32>)
      md_hom(id, (cc))
      inp_view(x = %x[i floordiv 2] : tensor<8xi32>)
    return %y : tensor<16xi32>
  }

  // Sizes that only the program knows, and a computation in the loop of another one.
  // CHECK-LABEL: func.func @dynamic(
  // CHECK:       scf.for
  // CHECK:         mdh.compute
  // CHECK:         mdh.compute
  // CHECK:       return
  func.func @dynamic(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %most = mdh.compute (i = %n, k = %m)
      out_view(most = %init[i] : tensor<?xf32>)
      md_hom(id, (cc, pw(maximumf)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>)
    %y = mdh.compute (i = %n, k = %m)
      out_view(norms = %init[i] : tensor<?xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>, most = %most[i] : tensor<?xf32>)
    return %y : tensor<?xf32>
  }

  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %tile, %loops:3 = transform.structured.tile_using_for %C tile_sizes [16, 16, 16] interchange = [2, 0, 1]
      : (!any) -> (!any, !any, !any, !any)
    %small, %inner:3 = transform.structured.tile_using_for %tile tile_sizes [4, 8, 5]
      : (!any) -> (!any, !any, !any, !any)
    transform.mdh.parts %small main {i: *, j: *, k: *} : !any
    %sums = transform.mdh.match sums in %root : (!any) -> !any
    %sums_tile, %sums_loops:2 = transform.structured.tile_using_for %sums tile_sizes [0, 4, 5]
      : (!any) -> (!any, !any, !any)
    %area = transform.mdh.match area in %root : (!any) -> !any
    %area_tile, %area_loop = transform.structured.tile_using_for %area tile_sizes [0, 4] : (!any) -> (!any, !any)
    %rows = transform.mdh.match rows in %root : (!any) -> !any
    %rows_tile, %rows_loops:2 = transform.structured.tile_using_for %rows tile_sizes [5, 4]
      : (!any) -> (!any, !any, !any)
    %prefixes = transform.mdh.match prefixes in %root : (!any) -> !any
    %loop = transform.structured.convert_to_loops %prefixes : (!any) -> !any
    %idle = transform.mdh.match idle in %root : (!any) -> !any
    %idle_tile, %threads = transform.structured.tile_using_forall %idle num_threads [9] : (!any) -> (!any, !any)
    %both = transform.mdh.match both in %root : (!any) -> !any
    %both_tile, %both_loop = transform.structured.tile_using_for %both tile_sizes [4] : (!any) -> (!any, !any)
    %halves = transform.mdh.match halves in %root : (!any) -> !any
    %halves_tile, %halves_loop = transform.structured.tile_using_for %halves tile_sizes [5] : (!any) -> (!any, !any)
    %norms = transform.mdh.match norms in %root : (!any) -> !any
    %norms_tile, %norms_loops = transform.structured.fuse %norms tile_sizes [6] : (!any) -> (!any, !any)
    transform.yield
  }
}
