// Lanes of narrow types: a tuple of f64 and i32 whose results are stored as f16 and as i1.
// RUN: mdh run %s --entry narrow --random 234460 --check 2>&1 | FileCheck %s
// CHECK: check  passed: 32 of 32 elements compared

mdh.combine @largest commutative associative neutral(0xFFF0000000000000 : f64, 2147483647 : i32) (%v0: f64, %v1: i32, %v2: f64, %v3: i32) {
  %v4 = arith.cmpf ord, %v2, %v2 : f64
  %v5 = arith.cmpf ult, %v2, %v0 : f64
  %v6 = arith.andi %v4, %v5 : i1
  %v7 = arith.cmpf ord, %v0, %v0 : f64
  %v8 = arith.cmpf ult, %v0, %v2 : f64
  %v9 = arith.andi %v7, %v8 : i1
  %v10 = arith.cmpi slt, %v1, %v3 : i32
  %v11 = arith.constant false
  %v12 = arith.select %v9, %v11, %v10 : i1
  %v13 = arith.ori %v6, %v12 : i1
  %v14 = arith.select %v13, %v0, %v2 : f64
  %v15 = arith.select %v13, %v1, %v3 : i32
  mdh.yield %v14, %v15 : f64, i32
}
func.func @narrow(%s0: tensor<f64>) -> (tensor<2x8xf16>, tensor<2x8xi1>) {
  %e0 = tensor.empty() : tensor<2x8xf16>
  %e1 = tensor.empty() : tensor<2x8xi1>
  %points0 = mdh.inp_view (i = 2, j = 2, k = 8) (%s0[] : tensor<f64>) : !mdh.mda<2x2x8, f64>
  %mda0_0 = mdh.hom((%v0: f64) {
    %v1 = arith.constant 0.0 : f64
    %v2 = arith.cmpf ord, %v0, %v0 : f64
    %v3 = arith.select %v2, %v0, %v1 : f64
    %v4 = arith.constant -100.0 : f64
    %v5 = arith.constant 100.0 : f64
    %v6 = arith.maximumf %v3, %v4 : f64
    %v7 = arith.minimumf %v6, %v5 : f64
    %v8 = arith.fptosi %v7 : f64 to i32
    mdh.yield %v0, %v8 : f64, i32
  }, (cc, pw(@largest), ps(@largest))) %points0 : !mdh.mda<2x2x8, f64> -> !mdh.mda<2x1x8, f64, i32>
  %r0, %r1 = mdh.out_view (i, j, k) %mda0_0 -> (%e0[i, k] : tensor<2x8xf16>, %e1[i, k] : tensor<2x8xi1>) : !mdh.mda<2x1x8, f64, i32>
  return %r0, %r1 : tensor<2x8xf16>, tensor<2x8xi1>
}
