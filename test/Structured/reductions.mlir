// Dimensions that combine, cut into partial results by scripts of upstream's transform dialect: by
// scf.for, whose tiles combine with what is there, and by scf.forall, whose threads have a partial
// result each. Operators on tuples are as good as sums. Run as in tile.mlir.
//
// RUN: mdh-opt %s --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/Inputs/same.py %s %t.mlir dynamic_for:5x37 dynamic_for:5x0 \
// RUN:   dynamic_forall:5x37 dynamic_forall:5x0 dynamic_tiles:5x37 dynamic_tiles:5x0 few:3 \
// RUN:   carried:0,1 carried:1,1 carried:3,1 carried:9,1 carried:20,1 \
// RUN:   carried_rows:5x0x2,5 carried_rows:5x3x0,5 carried_rows:5x3x2,5 carried_rows:5x20x2,5 \
// RUN:   without:5x1 without:5x3 without:5x20 without_tiles:5x1 without_tiles:5x3 without_tiles:5x20
//
// Nothing is combined to nothing, as it is where nothing is cut; no thread reads what is not there.
// RUN: %python %S/../Run/Inputs/npy.py save %t.nothing.npy f4 "np.ones((5, 0))"
// RUN: not mdh run %s --entry without --in %t.nothing.npy 2>&1 | FileCheck %s --check-prefix NOTHING
// RUN: not mdh run %t.mlir --entry without --in %t.nothing.npy 2>&1 | FileCheck %s --check-prefix NOTHING
// RUN: not mdh run %t.mlir --entry without_tiles --in %t.nothing.npy 2>&1 | FileCheck %s --check-prefix NOTHING
// NOTHING: error: {{.*}} combines no points in dimension 'k' {{.*}} has no neutral element
//
// And with the definition.
// RUN: mdh-opt %t.mlir --lower-affine -o %t.lowered.mlir
// RUN: mdh run %t.lowered.mlir --entry sum_for --check
// RUN: mdh run %t.lowered.mlir --entry lse_for --check
// RUN: mdh run %t.lowered.mlir --entry lse_forall --check
// RUN: mdh run %t.lowered.mlir --entry argmax_for --check
// RUN: mdh run %t.lowered.mlir --entry argmax_forall --check
// RUN: mdh run %t.lowered.mlir --entry welford_for --check
// RUN: mdh run %t.lowered.mlir --entry welford_forall --check
// RUN: mdh run %t.lowered.mlir --entry last --check
// RUN: mdh run %t.lowered.mlir --entry rows_first --check
// REQUIRES: numpy

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // Two rows of partial results for each sum; the last tile has one element.
  // CHECK-LABEL: func.func @sum_for(
  // CHECK:       %[[START:.*]] = tensor.empty() : tensor<7x4xf32>
  // CHECK:       %[[PARTS:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%[[SO_FAR:.*]] = %[[START]])
  // CHECK:         %[[LATER:.*]] = arith.cmpi ne, %[[K]], %c0
  // CHECK:         mdh.compute (i = 7, k = %[[K]] to %{{.*}}, so_far = 1)
  // CHECK-NEXT:      out_view(s_parts = %{{.*}}[i, k] origin(0, %[[K]]) : tensor<7x?xf32>)
  // CHECK-NEXT:      md_hom(mulf, (cc, cc, pw(addf)))
  // CHECK:           carry so_far (s_parts_before = {{.*}}) valid %[[LATER]]
  // CHECK:         tensor.insert_slice
  // CHECK:       mdh.compute (i = 7, k = 4)
  // CHECK-NEXT:    out_view(s = %{{.*}}[i] : tensor<7xf32>)
  // CHECK-NEXT:    md_hom(id, (cc, pw(addf)))
  // CHECK-NEXT:    inp_view(s_parts = %[[PARTS]][i, k] : tensor<7x4xf32>)
  func.func @sum_for(%x: tensor<7x33xf32>, %v: tensor<33xf32>) -> tensor<7xf32> {
    %init = tensor.empty() : tensor<7xf32>
    %s = mdh.compute (i = 7, k = 33)
      out_view(s = %init[i] : tensor<7xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<7x33xf32>, v = %v[k] : tensor<33xf32>)
    return %s : tensor<7xf32>
  }

  // A result that is kept in less than it is computed in, backwards, and what was there before.
  // CHECK-LABEL: func.func @narrow(
  // CHECK:       tensor.empty() : tensor<6x3xf32>
  // CHECK:       scf.forall
  // CHECK:       mdh.compute (i = 2 to 8, k = 3)
  // CHECK:         out_view(narrow = %{{.*}}[7 - i] : tensor<6xbf16>)
  // CHECK:         carry k (before = %{{.*}}[i - 2] : tensor<6xf32>)
  func.func @narrow(%x: tensor<10x21xf32>, %before: tensor<6xf32>) -> tensor<6xbf16> {
    %init = tensor.empty() : tensor<6xbf16>
    %s = mdh.compute (i = 2 to 8, k = 21)
      out_view(narrow = %init[7 - i] : tensor<6xbf16>)
      md_hom(id, (cc, pw(maximumf)))
      inp_view(x = %x[i, k] : tensor<10x21xf32>)
      carry k (before = %before[i - 2] : tensor<6xf32>)
    return %s : tensor<6xbf16>
  }

  // Two dimensions at once, one of them with gaps; and one of two.
  // CHECK-LABEL: func.func @two(
  // CHECK:       tensor.empty() : tensor<5x3x2xi32>
  // CHECK:       scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
  // CHECK:       mdh.compute (i = 5, k = 3, l = 2)
  // CHECK:       tensor.empty() : tensor<5x4xi32>
  // CHECK:       scf.for
  // CHECK:         mdh.compute (i = 5, k = %{{.*}} to %{{.*}}, l = 12 step 3 width 2, so_far = 1)
  // CHECK-NEXT:      out_view
  // CHECK-NEXT:      md_hom(id, (cc, cc, pw(addi), pw(addi)))
  // CHECK:       return
  func.func @two(%x: tensor<5x9x12xi32>) -> (tensor<5xi32>, tensor<5xi32>) {
    %init = tensor.empty() : tensor<5xi32>
    %both = mdh.compute (i = 5, k = 9, l = 12 step 3 width 2)
      out_view(both = %init[i] : tensor<5xi32>)
      md_hom(id, (cc, pw(addi), pw(addi)))
      inp_view(x = %x[i, k, l] : tensor<5x9x12xi32>)
    %one = mdh.compute (i = 5, k = 2 to 9, l = 12 step 3 width 2)
      out_view(one = %init[i] : tensor<5xi32>)
      md_hom(id, (cc, pw(addi), pw(addi)))
      inp_view(x = %x[i, k, l] : tensor<5x9x12xi32>)
    return %both, %one : tensor<5xi32>, tensor<5xi32>
  }

  // The stable form: a maximum, and a sum that goes by it.
  // CHECK-LABEL: func.func @lse_for(
  // CHECK:       tensor.empty() : tensor<6x5x
  // CHECK:       scf.for
  // CHECK:         mdh.compute (i = 6, k = %{{.*}}, so_far = 1)
  // CHECK:           combine lse
  // CHECK:           carry so_far
  // CHECK-COUNT-2: tensor.insert_slice
  // CHECK:       mdh.compute (i = 6, k = 5)
  // CHECK:         combine lse
  func.func @lse_for(%x: tensor<6x37xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
    %init = tensor.empty() : tensor<6xf32>
    %m, %s = mdh.compute (i = 6, k = 37)
      out_view(lse_for = %init[i] : tensor<6xf32>, s = %init[i] : tensor<6xf32>)
      md_hom((%e: f32) {
        %one = arith.constant 1.0 : f32
        mdh.yield %e, %one : f32, f32
      }, (cc, pw(lse)))
      inp_view(x = %x[i, k] : tensor<6x37xf32>)
      combine lse commutative associative (%m0: f32, %s0: f32, %m1: f32, %s1: f32) {
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
    return %m, %s : tensor<6xf32>, tensor<6xf32>
  }

  // CHECK-LABEL: func.func @lse_forall(
  // CHECK:       tensor.empty() : tensor<6x8x
  // CHECK:       scf.forall (%{{.*}}) in (8)
  // CHECK:         mdh.compute (i = 6, k = %
  // CHECK:           combine lse
  // CHECK-COUNT-2: tensor.parallel_insert_slice
  // CHECK:       mdh.compute (i = 6, k = 8)
  // CHECK:         combine lse
  func.func @lse_forall(%x: tensor<6x37xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
    %init = tensor.empty() : tensor<6xf32>
    %m, %s = mdh.compute (i = 6, k = 37)
      out_view(lse_forall = %init[i] : tensor<6xf32>, s = %init[i] : tensor<6xf32>)
      md_hom((%e: f32) {
        %one = arith.constant 1.0 : f32
        mdh.yield %e, %one : f32, f32
      }, (cc, pw(lse)))
      inp_view(x = %x[i, k] : tensor<6x37xf32>)
      combine lse commutative associative (%m0: f32, %s0: f32, %m1: f32, %s1: f32) {
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
    return %m, %s : tensor<6xf32>, tensor<6xf32>
  }

  // The first of the greatest ones.
  // CHECK-LABEL: func.func @argmax_for(
  // CHECK:       tensor.empty() : tensor<6x5x
  // CHECK:       scf.for
  // CHECK:         mdh.compute (i = 6, k = %{{.*}}, so_far = 1)
  // CHECK:           combine argmax
  // CHECK:           carry so_far
  // CHECK-COUNT-2: tensor.insert_slice
  // CHECK:       mdh.compute (i = 6, k = 5)
  // CHECK:         combine argmax
  func.func @argmax_for(%x: tensor<6x37xf32>) -> (tensor<6xf32>, tensor<6xindex>) {
    %init = tensor.empty() : tensor<6xf32>
    %at = tensor.empty() : tensor<6xindex>
    %m, %a = mdh.compute (i = 6, k = 37)
      out_view(argmax_for = %init[i] : tensor<6xf32>, at = %at[i] : tensor<6xindex>)
      md_hom((%e: f32) {
        %k = mdh.index 1 : index
        mdh.yield %e, %k : f32, index
      }, (cc, pw(argmax)))
      inp_view(x = %x[i, k] : tensor<6x37xf32>)
      combine argmax commutative associative (%v0: f32, %i0: index, %v1: f32, %i1: index) {
        %greater = arith.cmpf ogt, %v0, %v1 : f32
        %equal = arith.cmpf oeq, %v0, %v1 : f32
        %before = arith.cmpi ult, %i0, %i1 : index
        %tie = arith.andi %equal, %before : i1
        %first = arith.ori %greater, %tie : i1
        %v = arith.select %first, %v0, %v1 : f32
        %i = arith.select %first, %i0, %i1 : index
        mdh.yield %v, %i : f32, index
      }
    return %m, %a : tensor<6xf32>, tensor<6xindex>
  }

  // CHECK-LABEL: func.func @argmax_forall(
  // CHECK:       tensor.empty() : tensor<6x8x
  // CHECK:       scf.forall (%{{.*}}) in (8)
  // CHECK:         mdh.compute (i = 6, k = %
  // CHECK:           combine argmax
  // CHECK-COUNT-2: tensor.parallel_insert_slice
  // CHECK:       mdh.compute (i = 6, k = 8)
  // CHECK:         combine argmax
  func.func @argmax_forall(%x: tensor<6x37xf32>) -> (tensor<6xf32>, tensor<6xindex>) {
    %init = tensor.empty() : tensor<6xf32>
    %at = tensor.empty() : tensor<6xindex>
    %m, %a = mdh.compute (i = 6, k = 37)
      out_view(argmax_forall = %init[i] : tensor<6xf32>, at = %at[i] : tensor<6xindex>)
      md_hom((%e: f32) {
        %k = mdh.index 1 : index
        mdh.yield %e, %k : f32, index
      }, (cc, pw(argmax)))
      inp_view(x = %x[i, k] : tensor<6x37xf32>)
      combine argmax commutative associative (%v0: f32, %i0: index, %v1: f32, %i1: index) {
        %greater = arith.cmpf ogt, %v0, %v1 : f32
        %equal = arith.cmpf oeq, %v0, %v1 : f32
        %before = arith.cmpi ult, %i0, %i1 : index
        %tie = arith.andi %equal, %before : i1
        %first = arith.ori %greater, %tie : i1
        %v = arith.select %first, %v0, %v1 : f32
        %i = arith.select %first, %i0, %i1 : index
        mdh.yield %v, %i : f32, index
      }
    return %m, %a : tensor<6xf32>, tensor<6xindex>
  }

  // Mean, sum of squared distances from it, and number.
  // CHECK-LABEL: func.func @welford_for(
  // CHECK:       tensor.empty() : tensor<6x5x
  // CHECK:       scf.for
  // CHECK:         mdh.compute (i = 6, k = %{{.*}}, so_far = 1)
  // CHECK:           combine welford
  // CHECK:           carry so_far
  // CHECK-COUNT-3: tensor.insert_slice
  // CHECK:       mdh.compute (i = 6, k = 5)
  // CHECK:         combine welford
  func.func @welford_for(%x: tensor<6x37xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
    %init = tensor.empty() : tensor<6xf32>
    %m, %q, %n = mdh.compute (i = 6, k = 37)
      out_view(welford_for = %init[i] : tensor<6xf32>, m2 = %init[i] : tensor<6xf32>, n = %init[i] : tensor<6xf32>)
      md_hom((%e: f32) {
        %zero = arith.constant 0.0 : f32
        %one = arith.constant 1.0 : f32
        mdh.yield %e, %zero, %one : f32, f32, f32
      }, (cc, pw(welford)))
      inp_view(x = %x[i, k] : tensor<6x37xf32>)
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
    return %m, %q, %n : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  }

  // CHECK-LABEL: func.func @welford_forall(
  // CHECK:       tensor.empty() : tensor<6x8x
  // CHECK:       scf.forall (%{{.*}}) in (8)
  // CHECK:         mdh.compute (i = 6, k = %
  // CHECK:           combine welford
  // CHECK-COUNT-3: tensor.parallel_insert_slice
  // CHECK:       mdh.compute (i = 6, k = 8)
  // CHECK:         combine welford
  func.func @welford_forall(%x: tensor<6x37xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
    %init = tensor.empty() : tensor<6xf32>
    %m, %q, %n = mdh.compute (i = 6, k = 37)
      out_view(welford_forall = %init[i] : tensor<6xf32>, m2 = %init[i] : tensor<6xf32>, n = %init[i] : tensor<6xf32>)
      md_hom((%e: f32) {
        %zero = arith.constant 0.0 : f32
        %one = arith.constant 1.0 : f32
        mdh.yield %e, %zero, %one : f32, f32, f32
      }, (cc, pw(welford)))
      inp_view(x = %x[i, k] : tensor<6x37xf32>)
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
    return %m, %q, %n : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  }

  // What does not commute is cut into parts that follow each other. Nine threads have seven parts; no
  // neutral element is known that those without a part could have.
  // CHECK-LABEL: func.func @last(
  // CHECK:       scf.forall (%{{.*}}) in (9)
  // CHECK:         mdh.compute (i = %{{.*}} to %{{.*}})
  // CHECK:       mdh.compute (i = 7)
  // CHECK:         combine last
  func.func @last(%x: tensor<14xi32>) -> (tensor<index>, tensor<i32>) {
    %at = tensor.empty() : tensor<index>
    %value = tensor.empty() : tensor<i32>
    %a, %v = mdh.compute (i = 14)
      out_view(last = %at[] : tensor<index>, value = %value[] : tensor<i32>)
      md_hom((%e: i32) {
        %i = mdh.index 0 : index
        mdh.yield %i, %e : index, i32
      }, (pw(last)))
      inp_view(x = %x[i] : tensor<14xi32>)
      combine last associative (%i0: index, %v0: i32, %i1: index, %v1: i32) {
        %zero = arith.constant 0 : i32
        %is = arith.cmpi sgt, %v1, %zero : i32
        %i = arith.select %is, %i1, %i0 : index
        %v = arith.select %is, %v1, %v0 : i32
        mdh.yield %i, %v : index, i32
      }
    return %a, %v : tensor<index>, tensor<i32>
  }

  // Sizes that only the program knows.
  // CHECK-LABEL: func.func @dynamic_for(
  // CHECK:       tensor.empty(%{{.*}}) : tensor<?x8xf32>
  // CHECK:       scf.for
  // CHECK:       %[[PARTS:.*]] = arith.minsi
  // CHECK:       mdh.compute (i = %{{.*}}, k = %[[PARTS]])
  func.func @dynamic_for(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %s = mdh.compute (i = %n, k = %m)
      out_view(dynamic_for = %init[i] : tensor<?xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>)
    return %s : tensor<?xf32>
  }
  func.func @dynamic_forall(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %s = mdh.compute (i = %n, k = %m)
      out_view(dynamic_forall = %init[i] : tensor<?xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>)
    return %s : tensor<?xf32>
  }
  func.func @dynamic_tiles(%x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %s = mdh.compute (i = %n, k = %m)
      out_view(dynamic_tiles = %init[i] : tensor<?xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<?x?xf32>)
    return %s : tensor<?xf32>
  }

  // Fewer elements than partial results.
  func.func @few(%x: tensor<?xf32>) -> tensor<f32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %init = tensor.empty() : tensor<f32>
    %s = mdh.compute (k = %n)
      out_view(few = %init[] : tensor<f32>)
      md_hom(id, (pw(minimumf)))
      inp_view(x = %x[k] : tensor<?xf32>)
    return %s : tensor<f32>
  }

  // No neutral element: a thread without elements computes one that is not merged, if there is one.
  // CHECK-LABEL: func.func @carried(
  // CHECK:       %[[THERE:.*]] = arith.minsi %{{.*}}, %c1
  // CHECK:       mdh.compute (k = %{{.*}} to %{{.*}}, there = %[[THERE]])
  // CHECK-NEXT:    out_view(carried_parts = %{{.*}}[there] : tensor<1xf32>)
  func.func @carried(%x: tensor<?xf32>, %e: tensor<1xf32>) -> tensor<1xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %init = tensor.empty() : tensor<1xf32>
    %s = mdh.compute (k = %n)
      out_view(carried = %init[0] : tensor<1xf32>)
      md_hom(id, (pw(largest)))
      inp_view(x = %x[k] : tensor<?xf32>)
      combine largest commutative associative (%a: f32, %b: f32) {
        %r = arith.maxnumf %a, %b : f32
        mdh.yield %r : f32
      }
      carry k (before = %e[0] : tensor<1xf32>)
    return %s : tensor<1xf32>
  }
  // One of two dimensions, either of which may be empty.
  func.func @carried_rows(%x: tensor<5x?x?xf32>, %e: tensor<5xf32>) -> tensor<5xf32> {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %x, %c1 : tensor<5x?x?xf32>
    %m = tensor.dim %x, %c2 : tensor<5x?x?xf32>
    %init = tensor.empty() : tensor<5xf32>
    %s = mdh.compute (i = 5, k = %n, l = %m)
      out_view(carried_rows = %init[i] : tensor<5xf32>)
      md_hom(id, (cc, pw(largest), pw(largest)))
      inp_view(x = %x[i, k, l] : tensor<5x?x?xf32>)
      combine largest commutative associative (%a: f32, %b: f32) {
        %r = arith.maxnumf %a, %b : f32
        mdh.yield %r : f32
      }
      carry k (before = %e[i] : tensor<5xf32>)
    return %s : tensor<5xf32>
  }
  func.func @without(%x: tensor<5x?xf32>) -> tensor<5xf32> {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<5x?xf32>
    %init = tensor.empty() : tensor<5xf32>
    %s = mdh.compute (i = 5, k = %n)
      out_view(without = %init[i] : tensor<5xf32>)
      md_hom(id, (cc, pw(last)))
      inp_view(x = %x[i, k] : tensor<5x?xf32>)
      combine last associative (%a: f32, %b: f32) {
        %zero = arith.constant 0.0 : f32
        %is = arith.cmpf ogt, %b, %zero : f32
        %r = arith.select %is, %b, %a : f32
        mdh.yield %r : f32
      }
    return %s : tensor<5xf32>
  }
  func.func @without_tiles(%x: tensor<5x?xf32>) -> tensor<5xf32> {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c1 : tensor<5x?xf32>
    %init = tensor.empty() : tensor<5xf32>
    %s = mdh.compute (i = 5, k = %n)
      out_view(without_tiles = %init[i] : tensor<5xf32>)
      md_hom(id, (cc, pw(last)))
      inp_view(x = %x[i, k] : tensor<5x?xf32>)
      combine last associative (%a: f32, %b: f32) {
        %zero = arith.constant 0.0 : f32
        %is = arith.cmpf ogt, %b, %zero : f32
        %r = arith.select %is, %b, %a : f32
        mdh.yield %r : f32
      }
    return %s : tensor<5xf32>
  }

  // Rows are cut first, then each row's sum.
  func.func @rows_first(%x: tensor<9x13xi32>) -> tensor<9xi32> {
    %e = tensor.empty() : tensor<9xi32>
    %s = mdh.compute (i = 9, k = 13)
      out_view(rows_first = %e[i] : tensor<9xi32>)
      md_hom(id, (cc, pw(addi)))
      inp_view(x = %x[i, k] : tensor<9x13xi32>)
    return %s : tensor<9xi32>
  }

  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %s = transform.mdh.match s in %root : (!any) -> !any
    %s_start, %s_tile, %s_merge, %s_loop = transform.structured.tile_reduction_using_for %s
      by tile_sizes = [0, 4] : (!any) -> (!any, !any, !any, !any)
    %narrow = transform.mdh.match narrow in %root : (!any) -> !any
    %narrow_start, %narrow_tile, %narrow_merge, %narrow_loop = transform.structured.tile_reduction_using_forall %narrow
      by num_threads = [0, 3] : (!any) -> (!any, !any, !any, !any)
    %both = transform.mdh.match both in %root : (!any) -> !any
    %both_start, %both_tile, %both_merge, %both_loop = transform.structured.tile_reduction_using_forall %both
      by num_threads = [0, 3, 2] : (!any) -> (!any, !any, !any, !any)
    %one = transform.mdh.match one in %root : (!any) -> !any
    %one_start, %one_tile, %one_merge, %one_loop = transform.structured.tile_reduction_using_for %one reduction_dims = [1]
      by tile_sizes = [0, 4, 0] : (!any) -> (!any, !any, !any, !any)
    %lse_for = transform.mdh.match lse_for in %root : (!any) -> !any
    %lse_for_start:2, %lse_for_tile, %lse_for_merge, %lse_for_loop = transform.structured.tile_reduction_using_for %lse_for
      by tile_sizes = [0, 5] : (!any) -> (!any, !any, !any, !any, !any)
    %lse_forall = transform.mdh.match lse_forall in %root : (!any) -> !any
    %lse_forall_start:2, %lse_forall_tile, %lse_forall_merge, %lse_forall_loop = transform.structured.tile_reduction_using_forall %lse_forall
      by num_threads = [0, 8] : (!any) -> (!any, !any, !any, !any, !any)
    %argmax_for = transform.mdh.match argmax_for in %root : (!any) -> !any
    %argmax_for_start:2, %argmax_for_tile, %argmax_for_merge, %argmax_for_loop = transform.structured.tile_reduction_using_for %argmax_for
      by tile_sizes = [0, 5] : (!any) -> (!any, !any, !any, !any, !any)
    %argmax_forall = transform.mdh.match argmax_forall in %root : (!any) -> !any
    %argmax_forall_start:2, %argmax_forall_tile, %argmax_forall_merge, %argmax_forall_loop = transform.structured.tile_reduction_using_forall %argmax_forall
      by num_threads = [0, 8] : (!any) -> (!any, !any, !any, !any, !any)
    %welford_for = transform.mdh.match welford_for in %root : (!any) -> !any
    %welford_for_start:3, %welford_for_tile, %welford_for_merge, %welford_for_loop = transform.structured.tile_reduction_using_for %welford_for
      by tile_sizes = [0, 5] : (!any) -> (!any, !any, !any, !any, !any, !any)
    %welford_forall = transform.mdh.match welford_forall in %root : (!any) -> !any
    %welford_forall_start:3, %welford_forall_tile, %welford_forall_merge, %welford_forall_loop = transform.structured.tile_reduction_using_forall %welford_forall
      by num_threads = [0, 8] : (!any) -> (!any, !any, !any, !any, !any, !any)
    %last = transform.mdh.match last in %root : (!any) -> !any
    %last_start:2, %last_tile, %last_merge, %last_loop = transform.structured.tile_reduction_using_forall %last
      by num_threads = [9] : (!any) -> (!any, !any, !any, !any, !any)
    %dynamic_for = transform.mdh.match dynamic_for in %root : (!any) -> !any
    %dynamic_for_start, %dynamic_for_tile, %dynamic_for_merge, %dynamic_for_loop = transform.structured.tile_reduction_using_for %dynamic_for
      by tile_sizes = [0, 8] : (!any) -> (!any, !any, !any, !any)
    %dynamic_forall = transform.mdh.match dynamic_forall in %root : (!any) -> !any
    %dynamic_forall_start, %dynamic_forall_tile, %dynamic_forall_merge, %dynamic_forall_loop = transform.structured.tile_reduction_using_forall %dynamic_forall
      by num_threads = [0, 6] : (!any) -> (!any, !any, !any, !any)
    %dynamic_tiles = transform.mdh.match dynamic_tiles in %root : (!any) -> !any
    %dynamic_tiles_start, %dynamic_tiles_tile, %dynamic_tiles_merge, %dynamic_tiles_loop = transform.structured.tile_reduction_using_forall %dynamic_tiles
      by tile_sizes = [0, 8] : (!any) -> (!any, !any, !any, !any)
    %few = transform.mdh.match few in %root : (!any) -> !any
    %few_start, %few_tile, %few_merge, %few_loop = transform.structured.tile_reduction_using_for %few
      by tile_sizes = [5] : (!any) -> (!any, !any, !any, !any)
    %carried = transform.mdh.match carried in %root : (!any) -> !any
    %carried_start, %carried_tile, %carried_merge, %carried_loop = transform.structured.tile_reduction_using_forall %carried
      by num_threads = [8] : (!any) -> (!any, !any, !any, !any)
    %carried_rows = transform.mdh.match carried_rows in %root : (!any) -> !any
    %carried_rows_start, %carried_rows_tile, %carried_rows_merge, %carried_rows_loop = transform.structured.tile_reduction_using_forall %carried_rows reduction_dims = [1]
      by num_threads = [0, 8, 0] : (!any) -> (!any, !any, !any, !any)
    %without = transform.mdh.match without in %root : (!any) -> !any
    %without_start, %without_tile, %without_merge, %without_loop = transform.structured.tile_reduction_using_forall %without
      by num_threads = [0, 8] : (!any) -> (!any, !any, !any, !any)
    %without_tiles = transform.mdh.match without_tiles in %root : (!any) -> !any
    %without_tiles_start, %without_tiles_tile, %without_tiles_merge, %without_tiles_loop = transform.structured.tile_reduction_using_forall %without_tiles
      by tile_sizes = [0, 8] : (!any) -> (!any, !any, !any, !any)
    %rows_first = transform.mdh.match rows_first in %root : (!any) -> !any
    %rows_first_row, %rows_first_rows = transform.structured.tile_using_for %rows_first tile_sizes [4, 0] : (!any) -> (!any, !any)
    %rows_first_start, %rows_first_tile, %rows_first_merge, %rows_first_loop = transform.structured.tile_reduction_using_for %rows_first_row
      by tile_sizes = [0, 5] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}
