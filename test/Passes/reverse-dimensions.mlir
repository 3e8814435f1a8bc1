// Dimensions along which most elements are accessed backwards are reversed.
// RUN: mdh-opt %s --verify-diagnostics --mdh-reverse-dimensions | FileCheck %s
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry within --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry indices --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry last --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry window --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry padded --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry mbbs --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh compile %s --entry mbbs --emit loops | FileCheck %s --check-prefix LOOPS
// RUN: mdh explain --verbose %s --entry mbbs | FileCheck %s --check-prefix EXPLAIN
// RUN: mdh compile %s --entry scheduled --emit tiles | FileCheck %s --check-prefix SCHEDULED
// RUN: mdh run %s --entry scheduled --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry reversed --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry scans --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry gaps --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry in_place --random 1 --check | FileCheck %s --check-prefix DONE
// RUN: mdh run %s --entry dynamic --size i=9 --random 1 --check | FileCheck %s --check-prefix DONE
// DONE-NOT: failed
// DONE: check  passed

// What is written then lies backwards, which is less.
// CHECK-LABEL: @rows
// CHECK:       out_view(y = %{{.*}}[63 - i] : memref<64xf32>)
// CHECK:       inp_view(x = %{{.*}}[i, j] : memref<64x33xf32>)
func.func @rows(%x: memref<64x33xf32>, %y: memref<64xf32>) {
  mdh.compute (i = 64, j = 33)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[63 - i, j] : memref<64x33xf32>)
  return
}

// From other bounds than 0, in both dimensions.
// CHECK-LABEL: @within
// CHECK:       mdh.compute (i = 3 to 11, j = 2 to 20)
// CHECK:       out_view(y = %{{.*}}[13 - i] : memref<12xf32>)
// CHECK:       inp_view(x = %{{.*}}[i, j] : memref<11x24xf32>)
func.func @within(%x: memref<11x24xf32>, %y: memref<12xf32>) {
  mdh.compute (i = 3 to 11, j = 2 to 20)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[13 - i, 21 - j] : memref<11x24xf32>)
  return
}

// The scalar function's index is the point's.
// CHECK-LABEL: @indices
// CHECK:       inp_view(x = %{{.*}}[i, j] : memref<8x4xindex>)
func.func @indices(%x: memref<8x4xindex>, %y: memref<8xindex>) {
  mdh.compute (i = 8, j = 4)
    out_view(y = %y[i] : memref<8xindex>)
    md_hom((%v: index) {
      %i = mdh.index 0 : index
      %w = arith.muli %v, %i : index
      mdh.yield %w : index
    }, (cc, pw(addi)))
    inp_view(x = %x[7 - i, j] : memref<8x4xindex>)
  return
}

// An operator that is not commutative keeps the order.
// CHECK-LABEL: @last
// CHECK:       inp_view(x = %{{.*}}[19 - k] : memref<20xi64>)
func.func @last(%x: memref<20xi64>, %y: memref<i64>) {
  // expected-remark @+1 {{goes through 'k' backwards in memory: its operator keeps the order: expected a commutative one}}
  mdh.compute (k = 20)
    out_view(y = %y[] : memref<i64>)
    md_hom(id, (pw(second)))
    inp_view(x = %x[19 - k] : memref<20xi64>)
    combine second associative (%a: i64, %b: i64) {
      mdh.yield %b : i64
    }
  return
}

// Convolution: the filter lies backwards, and the larger image forwards.
// CHECK-LABEL: @window
// CHECK:       inp_view(x = %{{.*}}[i + k] : memref<36xf32>, w = %{{.*}}[4 - k] : memref<5xf32>)
func.func @window(%x: memref<36xf32>, %w: memref<5xf32>, %y: memref<32xf32>) {
  mdh.compute (i = 32, k = 5)
    out_view(y = %y[i] : memref<32xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(x = %x[i + k] : memref<36xf32>, w = %w[4 - k] : memref<5xf32>)
  return
}

// CHECK-LABEL: @padded
// CHECK:       inp_view(x = %{{.*}}[i - 2, j] pad(0.000000e+00 : f32) : memref<8x7xf32>)
func.func @padded(%x: memref<8x7xf32>, %y: memref<12xf32>) {
  mdh.compute (i = 12, j = 7)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[9 - i, j] pad(0.0 : f32) : memref<8x7xf32>)
  return
}

// The rows that sums are made of before their prefix-sums: read from the first one on.
// LOOPS-LABEL: @mbbs
// LOOPS:       scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c1 {
// LOOPS:         vector.load %arg0[%[[I]],
// EXPLAIN: x[i, j]
func.func @mbbs(%x: tensor<1300x900xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %points = mdh.inp_view (i = 1300, j = 900) (%x[1299 - i, j] : tensor<1300x900xf32>)
          : !mdh.mda<1300x900, f32>
  %boxes = mdh.hom(id, (ps(addf), pw(addf))) %points : !mdh.mda<1300x900, f32> -> !mdh.mda<1300x1, f32>
  %best = mdh.hom((%sum: f32) {
      mdh.yield %sum : f32
  }, (pw(maximumf), pw(maximumf))) %boxes : !mdh.mda<1300x1, f32> -> !mdh.mda<1x1, f32>
  %m = mdh.out_view (i, j) %best -> (m = %init[] : tensor<f32>) : !mdh.mda<1x1, f32>
  return %m : tensor<f32>
}

// A schedule that is there says what is done.
// CHECK-LABEL: @scheduled
// CHECK:       inp_view(x = %{{.*}}[63 - i, j] : memref<64x33xf32>)
// SCHEDULED-LABEL: @scheduled
// SCHEDULED:   inp_view(x = %{{.*}}[63 - i, j] : memref<64x33xf32>)
func.func @scheduled(%x: memref<64x33xf32>, %y: memref<64xf32>) {
  // expected-remark @+1 {{goes through 'i' backwards in memory: it has a schedule, which is followed as it is: expected none}}
  mdh.compute (i = 64, j = 33)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[63 - i, j] : memref<64x33xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}]>)
  return
}

// As much lies forwards as backwards.
// CHECK-LABEL: @reversed
// CHECK:       inp_view(x = %{{.*}}[63 - i] : memref<64xf32>)
func.func @reversed(%x: memref<64xf32>, %y: memref<64xf32>) {
  mdh.compute (i = 64)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[63 - i] : memref<64xf32>)
  return
}

// A prefix-sum has its order, and a domain with gaps need not end at a point.
// CHECK-LABEL: @scans
// CHECK:       inp_view(x = %{{.*}}[63 - i, j] : memref<64x3xf32>)
func.func @scans(%x: memref<64x3xf32>, %y: memref<64xf32>) {
  // expected-remark @+1 {{goes through 'i' backwards in memory: it is a prefix-sum: expected cc or pw}}
  mdh.compute (i = 64, j = 3)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (ps(addf), pw(addf)))
    inp_view(x = %x[63 - i, j] : memref<64x3xf32>)
  return
}

// CHECK-LABEL: @gaps
// CHECK:       inp_view(x = %{{.*}}[63 - i, j] : memref<64x3xf32>)
func.func @gaps(%x: memref<64x3xf32>, %y: memref<64xf32>) {
  // expected-remark @+1 {{goes through 'i' backwards in memory: its points have gaps: expected a width as large as the step}}
  mdh.compute (i = 64 step 3, j = 3)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[63 - i, j] : memref<64x3xf32>)
  return
}

// CHECK-LABEL: @in_place
// CHECK:       inp_view(x = %{{.*}}[63 - i] : memref<64xf32>, {{.*}}[63 - i]
func.func @in_place(%x: memref<64xf32>, %v: memref<64xf32>) {
  // expected-remark @+1 {{goes through 'i' backwards in memory: it is computed in place: expected another buffer for the result}}
  mdh.compute (i = 64)
    out_view(y = %x[63 - i] : memref<64xf32>)
    md_hom(mulf, (cc))
    inp_view(x = %x[63 - i] : memref<64xf32>, v = %v[63 - i] : memref<64xf32>)
  return
}

// Where a size is open, so is the end.
// CHECK-LABEL: @dynamic
// CHECK:       inp_view(x = %{{.*}}[63 - i, j] : memref<64x3xf32>)
func.func @dynamic(%x: memref<64x3xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  // expected-remark @+1 {{goes through 'i' backwards in memory: its bounds are not known: expected numbers}}
  mdh.compute (i = %n, j = 3)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[63 - i, j] : memref<64x3xf32>)
  return
}

// Refuses nothing: memory that is gone through backwards holds the same numbers.
