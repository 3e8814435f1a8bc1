// A layer of a network as torch-mlir imports it: x W^T + b, GELU as it is defined, by erf, and a second one. The
// size of the batch is unknown.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.random.default_rng(1).uniform(-1, 1, (33, 64))"
// RUN: mdh run %s --check=all --in x=%t.x.npy --random 1 2>&1 | FileCheck %s
// CHECK-NOT: stays as it is
// CHECK: note: 7 operations of linalg raised to computations: 3 linalg.generic, 2 linalg.matmul, 2 linalg.transpose
// CHECK: check passed: 2112 of 2112 elements compared
//
// RUN: mdh run %s --no-raise --check=all --in x=%t.x.npy --random 1 2>&1 | FileCheck %s --check-prefix UPSTREAM
// UPSTREAM-NOT: raised
// UPSTREAM: check passed: 2112 of 2112 elements compared

#rows = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @mlp_gelu(%x: tensor<?x64xf32>, %w1: tensor<96x64xf32>, %b1: tensor<96xf32>, %w2: tensor<64x96xf32>, %b2: tensor<64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.000000e+00 : f32
  %half = arith.constant 5.000000e-01 : f32
  %one = arith.constant 1.000000e+00 : f32
  %root = arith.constant 1.41421354 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %t1 = tensor.empty() : tensor<64x96xf32>
  %w1t = linalg.transpose ins(%w1 : tensor<96x64xf32>) outs(%t1 : tensor<64x96xf32>) permutation = [1, 0]
  %e1 = tensor.empty(%n) : tensor<?x96xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x96xf32>) -> tensor<?x96xf32>
  %m1 = linalg.matmul ins(%x, %w1t : tensor<?x64xf32>, tensor<64x96xf32>) outs(%f1 : tensor<?x96xf32>) -> tensor<?x96xf32>
  %h = linalg.generic {indexing_maps = [#rows, #column, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%m1, %b1 : tensor<?x96xf32>, tensor<96xf32>) outs(%e1 : tensor<?x96xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<?x96xf32>
  %g = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<?x96xf32>) outs(%e1 : tensor<?x96xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %root : f32
    %1 = math.erf %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %2, %half : f32
    %4 = arith.mulf %in, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x96xf32>
  %t2 = tensor.empty() : tensor<96x64xf32>
  %w2t = linalg.transpose ins(%w2 : tensor<64x96xf32>) outs(%t2 : tensor<96x64xf32>) permutation = [1, 0]
  %e2 = tensor.empty(%n) : tensor<?x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %m2 = linalg.matmul ins(%g, %w2t : tensor<?x96xf32>, tensor<96x64xf32>) outs(%f2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.generic {indexing_maps = [#rows, #column, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%m2, %b2 : tensor<?x64xf32>, tensor<64xf32>) outs(%e2 : tensor<?x64xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
