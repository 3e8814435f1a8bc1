// Upstream's tiling, fusion and bufferization in a stock mlir-opt with our library: of log-sum-exp,
// arg-max and Welford's mean and variance, whose operators are on tuples. What comes out is run, and
// compared with what the file as it stands gives, and with the definition.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s \
// RUN:   --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/../Structured/Inputs/same.py %s %t.mlir
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %t.mlir --lower-affine -o %t.lowered.mlir
// RUN: mdh run %t.lowered.mlir --entry argmax --check
// RUN: mdh run %t.lowered.mlir --entry welford --check
//
// Upstream's bufferization puts them in place: where each tensor has one use, it copies nothing.
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %t.lowered.mlir \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --buffer-results-to-out-params="modify-public-functions hoist-static-allocs" --cse --canonicalize -o %t.memory.mlir
// RUN: FileCheck %s --input-file=%t.memory.mlir --check-prefix MEMORY
// RUN: %python %S/../Structured/Inputs/same.py %s %t.memory.mlir
//
// The reductions of test/Structured, where all sizes are tried.
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin \
// RUN:   %S/../Structured/reductions.mlir --transform-interpreter --canonicalize --cse \
// RUN:   | FileCheck %S/../Structured/reductions.mlir
// REQUIRES: numpy

!any = !transform.any_op

// MEMORY-LABEL: func.func @argmax(
// MEMORY-NOT:   memref.copy
// MEMORY:       carry k
// MEMORY-LABEL: func.func @welford(
// MEMORY-NOT:   memref.copy
// MEMORY:       return
module attributes {transform.with_named_sequence} {
  // The logarithms go over threads, each with its sums, which are cut into partial results.
  // CHECK-LABEL: func.func @logsumexp(
  // CHECK:       scf.forall (%{{.*}}) in (3)
  // CHECK:         scf.for
  // CHECK:           mdh.compute (i = %{{.*}}, so_far = 1)
  // CHECK:             combine join
  // CHECK:         mdh.compute (i = %{{.*}}, k = 8)
  // CHECK:           combine join
  // CHECK:         linalg.generic
  // CHECK:         scf.forall.in_parallel
  func.func @logsumexp(%x: tensor<12x37xf32>) -> tensor<12xf32> {
    %init = tensor.empty() : tensor<12xf32>
    %m, %s = mdh.compute (i = 12, k = 37)
      out_view(m = %init[i] : tensor<12xf32>, s = %init[i] : tensor<12xf32>)
      md_hom((%e: f32) {
        %one = arith.constant 1.0 : f32
        mdh.yield %e, %one : f32, f32
      }, (cc, pw(join)))
      inp_view(x = %x[i, k] : tensor<12x37xf32>)
      combine join commutative associative (%m0: f32, %s0: f32, %m1: f32, %s1: f32) {
        %m = arith.maximumf %m0, %m1 : f32
        %d0 = arith.subf %m0, %m : f32
        %d1 = arith.subf %m1, %m : f32
        %e0 = math.exp %d0 : f32
        %e1 = math.exp %d1 : f32
        %p0 = arith.mulf %s0, %e0 : f32
        %p1 = arith.mulf %s1, %e1 : f32
        %s = arith.addf %p0, %p1 : f32
        mdh.yield %m, %s : f32, f32
      }
    %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
        ins(%m, %s : tensor<12xf32>, tensor<12xf32>) outs(%init : tensor<12xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %l = math.log %b : f32
        %c = arith.addf %a, %l : f32
        linalg.yield %c : f32
    } -> tensor<12xf32>
    return %y : tensor<12xf32>
  }

  // The first of the greatest ones, over tiles of rows and columns. Upstream computes the squares
  // there, of the same tile, and a canonicalisation of ours makes one computation of both.
  // CHECK-LABEL: func.func @argmax(
  // CHECK:       scf.for
  // CHECK:         scf.for
  // CHECK:           mdh.compute
  // CHECK:             arith.mulf
  // CHECK:             combine greater
  // CHECK:             carry k (v_before = {{.*}}, at_before = {{.*}}) valid
  // CHECK:       return
  func.func @argmax(%x: tensor<12x37xf32>) -> (tensor<12xf32>, tensor<12xindex>) {
    %any = tensor.empty() : tensor<12x37xf32>
    %squares = mdh.compute (i = 12, k = 37)
      out_view(squares = %any[i, k] : tensor<12x37xf32>)
      md_hom(mulf, (cc, cc))
      inp_view(x = %x[i, k][i, k] : tensor<12x37xf32>)
    %init = tensor.empty() : tensor<12xf32>
    %at = tensor.empty() : tensor<12xindex>
    %v, %a = mdh.compute (i = 12, k = 37)
      out_view(v = %init[i] : tensor<12xf32>, at = %at[i] : tensor<12xindex>)
      md_hom((%e: f32) {
        %k = mdh.index 1 : index
        mdh.yield %e, %k : f32, index
      }, (cc, pw(greater)))
      inp_view(x = %squares[i, k] : tensor<12x37xf32>)
      combine greater commutative associative (%v0: f32, %i0: index, %v1: f32, %i1: index) {
        %greater = arith.cmpf ogt, %v0, %v1 : f32
        %equal = arith.cmpf oeq, %v0, %v1 : f32
        %before = arith.cmpi ult, %i0, %i1 : index
        %tie = arith.andi %equal, %before : i1
        %first = arith.ori %greater, %tie : i1
        %v = arith.select %first, %v0, %v1 : f32
        %i = arith.select %first, %i0, %i1 : index
        mdh.yield %v, %i : f32, index
      }
    return %v, %a : tensor<12xf32>, tensor<12xindex>
  }

  // Rows over threads, and then the columns of each over others.
  // CHECK-LABEL: func.func @welford(
  // CHECK:       scf.forall
  // CHECK:         scf.forall (%{{.*}}) in (4)
  // CHECK:           mdh.compute
  // CHECK:             combine welford
  // CHECK-COUNT-3:   tensor.parallel_insert_slice
  // CHECK:         mdh.compute (i = %{{.*}}, k = 4)
  // CHECK:           combine welford
  // CHECK-COUNT-3: tensor.parallel_insert_slice
  func.func @welford(%x: tensor<12x37xf32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) {
    %init = tensor.empty() : tensor<12xf32>
    %m, %q, %n = mdh.compute (i = 12, k = 37)
      out_view(mean = %init[i] : tensor<12xf32>, m2 = %init[i] : tensor<12xf32>, n = %init[i] : tensor<12xf32>)
      md_hom((%e: f32) {
        %zero = arith.constant 0.0 : f32
        %one = arith.constant 1.0 : f32
        mdh.yield %e, %zero, %one : f32, f32, f32
      }, (cc, pw(welford)))
      inp_view(x = %x[i, k] : tensor<12x37xf32>)
      combine welford commutative associative
          (%m0: f32, %q0: f32, %n0: f32, %m1: f32, %q1: f32, %n1: f32) {
        %n = arith.addf %n0, %n1 : f32
        %d = arith.subf %m1, %m0 : f32
        %w = arith.divf %n1, %n : f32
        %dw = arith.mulf %d, %w : f32
        %m = arith.addf %m0, %dw : f32
        %q = arith.addf %q0, %q1 : f32
        %dd = arith.mulf %d, %dw : f32
        %c = arith.mulf %dd, %n0 : f32
        %r = arith.addf %q, %c : f32
        mdh.yield %m, %r, %n : f32, f32, f32
      }
    return %m, %q, %n : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  }

  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %log = transform.structured.match ops{["linalg.generic"]} in %root : (!any) -> !any
    %log_tile, %threads = transform.structured.tile_using_forall %log num_threads [3] : (!any) -> (!any, !any)
    %m = transform.mdh.match m in %root : (!any) -> !any
    %sums, %new_threads = transform.structured.fuse_into_containing_op %m into %threads
      : (!any, !any) -> (!any, !any)
    %start:2, %part, %merge, %loop = transform.structured.tile_reduction_using_for %sums by tile_sizes = [0, 8]
      : (!any) -> (!any, !any, !any, !any, !any)
    %v = transform.mdh.match v in %root : (!any) -> !any
    %v_tile, %v_loops:2 = transform.structured.fuse %v tile_sizes [5, 8] : (!any) -> (!any, !any, !any)
    %mean = transform.mdh.match mean in %root : (!any) -> !any
    %rows, %rows_loop = transform.structured.tile_using_forall %mean tile_sizes [4] : (!any) -> (!any, !any)
    %starts:3, %parts, %merges, %columns = transform.structured.tile_reduction_using_forall %rows by num_threads = [0, 4]
      : (!any) -> (!any, !any, !any, !any, !any, !any)
    transform.yield
  }
}
