// Kernels of computations without schedules: the model makes none that is not lowered.
//
// RUN: mdh run %s --entry scans --size q=5 --size r=3 --device sim --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry steps --size k=1 --device sim --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry steps --size k=2 --device sim --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry groups --device sim --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry pairs --device sim --random 1 --check | FileCheck %s
// CHECK: check{{.*}}passed

mdh.combine @plus commutative associative (%a: i64, %b: i64) {
  %c = arith.addi %a, %b : i64
  mdh.yield %c : i64
}

// Prefix-sums inside of each other, of a size that only a run knows, of sums that may have no points.
func.func @scans(%x: tensor<?xi64>, %n: index) -> tensor<2x2x?xi64> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %x, %zero : tensor<?xi64>
  %none = tensor.empty(%n) : tensor<2x2x?xi64>
  %points = mdh.inp_view (i = 2, p = 2, q = %n, r = %m) (%x[r] : tensor<?xi64>) : !mdh.mda<2x2x?x?, i64>
  %mda = mdh.hom((%a: i64) {
    mdh.yield %a : i64
  }, (cc, ps(@plus), ps(@plus), pw(@plus))) %points : !mdh.mda<2x2x?x?, i64> -> !mdh.mda<2x2x?x1, i64>
  %r = mdh.out_view (i, p, q, r) %mda -> (%none[i, p, q] : tensor<2x2x?xi64>) : !mdh.mda<2x2x?x1, i64>
  return %r : tensor<2x2x?xi64>
}

// Prefix-sums inside of each other, of as many points as a step that only a run knows leaves: a tile of one
// point is known to be one.
func.func @steps(%x: memref<2x2x?xi64>, %y: memref<2x2xi64>) {
  %two = arith.constant 2 : index
  %n = memref.dim %x, %two : memref<2x2x?xi64>
  mdh.compute (i = 2, j = 2 step %n, k = %n)
    out_view(y = %y[i, j] : memref<2x2xi64>)
    md_hom(id, (ps(addi), ps(addi), pw(addi)))
    inp_view(x = %x[i, j, k] : memref<2x2x?xi64>)
  return
}

// The same in groups with gaps, whose first index is a sum.
func.func @groups(%x: memref<2x2x4x2xi64>, %y: memref<2x4x2xi64>) {
  mdh.compute (i = 2, j = 2, k = 1 to 4 step 3 width 2, r = 2)
    out_view(y = %y[i, k, r] : memref<2x4x2xi64>)
    md_hom(id, (ps(addi), pw(addi), ps(addi), cc))
    inp_view(x = %x[i, j, k, r] : memref<2x2x4x2xi64>)
  return
}

mdh.combine @lse commutative associative (%m0: f32, %s0: f32, %m1: f32, %s1: f32) {
  %m = arith.maximumf %m0, %m1 : f32
  %d0 = arith.subf %m0, %m : f32
  %e0 = math.exp %d0 : f32
  %t0 = arith.mulf %s0, %e0 : f32
  %d1 = arith.subf %m1, %m : f32
  %e1 = math.exp %d1 : f32
  %t1 = arith.mulf %s1, %e1 : f32
  %s = arith.addf %t0, %t1 : f32
  mdh.yield %m, %s : f32, f32
}

// Results of threads are strided, and an operator with functions of math combines them.
func.func @pairs(%x: tensor<64x3xf32>, %none: tensor<3xf32>) -> tensor<3xf32> {
  %points = mdh.inp_view (i = 64, j = 4 step 2) (%x[i, j] : tensor<64x3xf32>) : !mdh.mda<64x2, f32>
  %mda = mdh.hom((%a: f32) {
    %one = arith.constant 1.0 : f32
    mdh.yield %a, %one : f32, f32
  }, (pw(@lse), cc)) %points : !mdh.mda<64x2, f32> -> !mdh.mda<1x2, f32, f32>
  %r = mdh.out_view (i, j) %mda -> (_, %none[j] : tensor<3xf32>) : !mdh.mda<1x2, f32, f32>
  return %r : tensor<3xf32>
}
