// Computations tiled and fused by scripts of upstream's transform dialect, beside linalg. What comes
// out is run, and compared with what the file as it stands gives (Inputs/same.py).
//
// RUN: mdh-opt %s --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/same.py %s %t.mlir dynamic:37x29,29
//
// What is no operation of linalg is compared with the definition too, as it is after tiling.
// RUN: mdh-opt %t.mlir --lower-affine -o %t.lowered.mlir
// RUN: mdh run %t.lowered.mlir --entry matmul --check
// RUN: mdh run %t.lowered.mlir --entry scan --check
// RUN: mdh run %t.lowered.mlir --entry padded --check
// REQUIRES: numpy

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // All three dimensions, the last of them combined: its tiles add to what is there.
  // CHECK-LABEL: func.func @matmul(
  // CHECK:       scf.for %[[I:.*]] = {{.*}} iter_args
  // CHECK:         scf.for %[[J:.*]] = {{.*}} iter_args
  // CHECK:           scf.for %[[K:.*]] = {{.*}} iter_args(%[[SO_FAR:.*]] =
  // CHECK:             %[[C:.*]] = tensor.extract_slice %[[SO_FAR]][%[[I]], %[[J]]]
  // CHECK:             %[[LATER:.*]] = arith.cmpi ne, %[[K]], %c0
  // CHECK:             mdh.compute (i = %[[I]] to %{{.*}}, j = %[[J]] to %{{.*}}, k = %[[K]] to %{{.*}})
  // CHECK-NEXT:          out_view(C = %[[C]][i, j] origin(%[[I]], %[[J]])
  // CHECK-NEXT:          md_hom(mulf, (cc, cc, pw(addf)))
  // CHECK-NEXT:          inp_view(A = %{{.*}}[i, k] : tensor<37x41xf32>, B = %{{.*}}[k, j] : tensor<41x29xf32>)
  // CHECK-NEXT:          carry k (C_before = %[[C]][i, j] origin(%[[I]], %[[J]]) : {{.*}}) valid %[[LATER]]
  // CHECK:             tensor.insert_slice
  func.func @matmul(%A: tensor<37x41xf32>, %B: tensor<41x29xf32>) -> tensor<37x29xf32> {
    %init = tensor.empty() : tensor<37x29xf32>
    %C = mdh.compute (i = 37, j = 29, k = 41)
      out_view(C = %init[i, j] : tensor<37x29xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<37x41xf32>, B = %B[k, j] : tensor<41x29xf32>)
    return %C : tensor<37x29xf32>
  }

  // A tile reads its neighbours too; what no point writes stays.
  // CHECK-LABEL: func.func @jacobi(
  // CHECK-COUNT-2: scf.for
  // CHECK:           mdh.compute
  func.func @jacobi(%x: tensor<22x30xf32>) -> tensor<22x30xf32> {
    %init = arith.constant dense<1.0> : tensor<22x30xf32>
    %y = mdh.compute (i = 1 to 21, j = 1 to 29)
      out_view(around = %init[i, j] : tensor<22x30xf32>)
      md_hom((%n: f32, %w: f32, %e: f32, %s: f32) {
        %a = arith.addf %n, %s : f32
        %b = arith.addf %w, %e : f32
        %c = arith.addf %a, %b : f32
        mdh.yield %c : f32
      }, (cc, cc))
      inp_view(x = %x[i - 1, j][i, j - 1][i, j + 1][i + 1, j] : tensor<22x30xf32>)
    return %y : tensor<22x30xf32>
  }

  // The tiles of a prefix-sum find the last row of the one before in the result.
  // CHECK-LABEL: func.func @scan(
  // CHECK:       scf.for
  // CHECK:         mdh.compute
  // CHECK:           carry i (sums_before
  func.func @scan(%x: tensor<50x6xi32>) -> tensor<50x6xi32> {
    %init = tensor.empty() : tensor<50x6xi32>
    %y = mdh.compute (i = 50, j = 6)
      out_view(sums = %init[49 - i, j] : tensor<50x6xi32>)
      md_hom(id, (ps(addi), cc))
      inp_view(x = %x[i, j] : tensor<50x6xi32>)
    return %y : tensor<50x6xi32>
  }

  // Sums in a sum, with strides, and a tile in each.
  // CHECK-LABEL: func.func @conv(
  // CHECK-COUNT-2: scf.for
  // CHECK:           mdh.compute
  func.func @conv(%x: tensor<45xf32>, %w: tensor<5xf32>) -> tensor<21xf32> {
    %init = tensor.empty() : tensor<21xf32>
    %y = mdh.compute (p = 21, r = 5)
      out_view(conv = %init[p] : tensor<21xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(x = %x[2 * p + r] : tensor<45xf32>, w = %w[r] : tensor<5xf32>)
    return %y : tensor<21xf32>
  }

  // What lies outside of the whole input is padding, in each tile.
  // CHECK-LABEL: func.func @padded(
  // CHECK:       scf.for
  // CHECK:         mdh.compute
  // CHECK:           pad(7 : i32)
  func.func @padded(%x: tensor<40xi32>) -> tensor<40xi32> {
    %init = tensor.empty() : tensor<40xi32>
    %y = mdh.compute (i = 40)
      out_view(far = %init[i] : tensor<40xi32>)
      md_hom(addi, (cc))
      inp_view(x = %x[i - 3][i + 20] pad(7 : i32) : tensor<40xi32>)
    return %y : tensor<40xi32>
  }

  // CHECK-LABEL: func.func @dynamic(
  // CHECK-COUNT-2: scf.for
  // CHECK:           mdh.compute
  func.func @dynamic(%M: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %M, %c0 : tensor<?x?xf32>
    %m = tensor.dim %M, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %w = mdh.compute (n = %n, m = %m)
      out_view(rows = %init[n] : tensor<?xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(M = %M[n, m] : tensor<?x?xf32>, v = %v[m] : tensor<?xf32>)
    return %w : tensor<?xf32>
  }

  // An operation of linalg goes into the loop of the computation that reads it.
  // CHECK-LABEL: func.func @producer(
  // CHECK:       scf.for
  // CHECK:         linalg.add
  // CHECK:         mdh.compute
  // CHECK-NOT:   linalg
  func.func @producer(%a: tensor<24x16xf32>, %b: tensor<24x16xf32>) -> tensor<24xf32> {
    %empty = tensor.empty() : tensor<24x16xf32>
    %sum = linalg.add ins(%a, %b : tensor<24x16xf32>, tensor<24x16xf32>)
                      outs(%empty : tensor<24x16xf32>) -> tensor<24x16xf32>
    %init = tensor.empty() : tensor<24xf32>
    %y = mdh.compute (i = 24, k = 16)
      out_view(most = %init[i] : tensor<24xf32>)
      md_hom(id, (cc, pw(maximumf)))
      inp_view(x = %sum[i, k] : tensor<24x16xf32>)
    return %y : tensor<24xf32>
  }

  // And a computation goes into the loop of an operation of linalg, reversed as it is.
  // CHECK-LABEL: func.func @into(
  // CHECK:       scf.forall
  // CHECK:         mdh.compute
  // CHECK:         linalg.exp
  // CHECK:         scf.forall.in_parallel
  // CHECK:       return
  func.func @into(%x: tensor<24x16xf32>) -> tensor<24xf32> {
    %init = tensor.empty() : tensor<24xf32>
    %y = mdh.compute (i = 24, k = 16)
      out_view(back = %init[23 - i] : tensor<24xf32>)
      md_hom(id, (cc, pw(maximumf)))
      inp_view(x = %x[i, k] : tensor<24x16xf32>)
    %e = linalg.exp ins(%y : tensor<24xf32>) outs(%init : tensor<24xf32>) -> tensor<24xf32>
    return %e : tensor<24xf32>
  }

  // CHECK-LABEL: func.func @threads(
  // CHECK:       scf.forall
  // CHECK:         mdh.compute
  // CHECK:         tensor.parallel_insert_slice
  func.func @threads(%A: tensor<30x20xf32>, %B: tensor<20x26xf32>) -> tensor<30x26xf32> {
    %init = tensor.empty() : tensor<30x26xf32>
    %C = mdh.compute (i = 30, j = 26, k = 20)
      out_view(D = %init[i, j] : tensor<30x26xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<30x20xf32>, B = %B[k, j] : tensor<20x26xf32>)
    return %C : tensor<30x26xf32>
  }

  // CHECK-LABEL: func.func @loops(
  // CHECK-COUNT-2: scf.for
  // CHECK:           memref.load
  // CHECK-NOT:   mdh.compute
  func.func @loops(%M: memref<9x13xf32>, %v: memref<13xf32>, %w: memref<9xf32>) {
    mdh.compute (i = 9, k = 13)
      out_view(w = %w[i] : memref<9xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(M = %M[i, k] : memref<9x13xf32>, v = %v[k] : memref<13xf32>)
    return
  }

  // An operator of its own that does not commute, on pairs, with the index; tiles of tiles. No result
  // is a neutral element.
  // CHECK-LABEL: func.func @last(
  // CHECK-COUNT-2: scf.for
  // CHECK:           %[[LATER:.*]] = arith.ori
  // CHECK:           mdh.compute
  // CHECK:             combine last
  // CHECK:             carry i (at_before = {{.*}}, value_before = {{.*}}) valid %[[LATER]]
  func.func @last(%x: tensor<60xi32>) -> (tensor<index>, tensor<i32>) {
    %at = tensor.empty() : tensor<index>
    %value = tensor.empty() : tensor<i32>
    %a, %v = mdh.compute (i = 60)
      out_view(at = %at[] : tensor<index>, value = %value[] : tensor<i32>)
      md_hom((%e: i32) {
        %i = mdh.index 0 : index
        mdh.yield %i, %e : index, i32
      }, (pw(last)))
      inp_view(x = %x[i] : tensor<60xi32>)
      combine last associative (%i0: index, %v0: i32, %i1: index, %v1: i32) {
        %zero = arith.constant 0 : i32
        %is = arith.cmpi sgt, %v1, %zero : i32
        %i = arith.select %is, %i1, %i0 : index
        %v = arith.select %is, %v1, %v0 : i32
        mdh.yield %i, %v : index, i32
      }
    return %a, %v : tensor<index>, tensor<i32>
  }

  // Every third index, and the first two of every three.
  // CHECK-LABEL: func.func @periods(
  // CHECK-COUNT-2: scf.for
  func.func @periods(%x: tensor<32xi32>) -> (tensor<32xi32>, tensor<i32>) {
    %y = arith.constant dense<0> : tensor<32xi32>
    %copy = mdh.compute (i = 1 to 32 step 3)
      out_view(third = %y[i] : tensor<32xi32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<32xi32>)
    %init = tensor.empty() : tensor<i32>
    %sum = mdh.compute (i = 32 step 3 width 2)
      out_view(two = %init[] : tensor<i32>)
      md_hom(id, (pw(addi)))
      inp_view(x = %x[i] : tensor<32xi32>)
    return %copy, %sum : tensor<32xi32>, tensor<i32>
  }

  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %C_tile, %C_loops:3 = transform.structured.tile_using_for %C tile_sizes [8, 8, 16]
      : (!any) -> (!any, !any, !any, !any)
    %around = transform.mdh.match around in %root : (!any) -> !any
    %around_tile, %around_loops:2 = transform.structured.tile_using_for %around tile_sizes [10, 8]
      : (!any) -> (!any, !any, !any)
    %sums = transform.mdh.match sums in %root : (!any) -> !any
    %sums_tile, %sums_loops:2 = transform.structured.tile_using_for %sums tile_sizes [16, 4]
      : (!any) -> (!any, !any, !any)
    %conv = transform.mdh.match conv in %root : (!any) -> !any
    %conv_tile, %conv_loops:2 = transform.structured.tile_using_for %conv tile_sizes [8, 2]
      : (!any) -> (!any, !any, !any)
    %far = transform.mdh.match far in %root : (!any) -> !any
    %far_tile, %far_loops = transform.structured.tile_using_for %far tile_sizes [16]
      : (!any) -> (!any, !any)
    %rows = transform.mdh.match rows in %root : (!any) -> !any
    %rows_tile, %rows_loops:2 = transform.structured.tile_using_for %rows tile_sizes [8, 16]
      : (!any) -> (!any, !any, !any)
    %most = transform.mdh.match most in %root : (!any) -> !any
    %most_tile, %most_loop = transform.structured.fuse %most tile_sizes [10]
      : (!any) -> (!any, !any)
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!any) -> !any
    %exp_tile, %exp_loop = transform.structured.tile_using_forall %exp tile_sizes [7]
      : (!any) -> (!any, !any)
    %back = transform.mdh.match back in %root : (!any) -> !any
    %back_tile, %new_loop = transform.structured.fuse_into_containing_op %back into %exp_loop
      : (!any, !any) -> (!any, !any)
    %D = transform.mdh.match D in %root : (!any) -> !any
    %D_tile, %D_threads = transform.structured.tile_using_forall %D num_threads [4, 2]
      : (!any) -> (!any, !any)
    %w = transform.mdh.match w in %root : (!any) -> !any
    %w_loops = transform.structured.convert_to_loops %w : (!any) -> !any
    %at = transform.mdh.match at in %root : (!any) -> !any
    %at_tile, %at_loop = transform.structured.tile_using_for %at tile_sizes [16]
      : (!any) -> (!any, !any)
    %again, %at_loops = transform.structured.tile_using_for %at_tile tile_sizes [3]
      : (!any) -> (!any, !any)
    %third = transform.mdh.match third in %root : (!any) -> !any
    %third_tile, %third_loops = transform.structured.tile_using_for %third tile_sizes [4]
      : (!any) -> (!any, !any)
    %two = transform.mdh.match two in %root : (!any) -> !any
    %two_tile, %two_loops = transform.structured.tile_using_for %two tile_sizes [3]
      : (!any) -> (!any, !any)
    transform.yield
  }
}
