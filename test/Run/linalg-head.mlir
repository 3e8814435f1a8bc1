// The end of a network for images as it is imported, its weights written into the program: pooling, the mean over space, a
// fully connected layer, softmax. The number of images is unknown.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.random.default_rng(1).uniform(-1, 1, (3, 2, 8, 8))"
// RUN: mdh run %s --check=all --in x=%t.x.npy 2>&1 | FileCheck %s
// CHECK-NOT: stays as it is
// CHECK-NOT: weak
// CHECK: raised to computations: {{.*}}2 linalg.generic, 1 linalg.matmul, 1 linalg.pooling_nchw_max, 1 linalg.pooling_nchw_sum, 1 linalg.softmax
// CHECK: check passed: 12 of 12 elements compared

#pooled = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @head(%x: tensor<?x2x8x8xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.000000e+00 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %count = arith.constant 1.600000e+01 : f32
  %weights = arith.constant dense<[[1.5, -0.5, 0.25, 2.0], [-1.0, 0.75, 3.0, 0.125]]> : tensor<2x4xf32>
  %bias = arith.constant dense<0.5> : tensor<4xf32>
  %n = tensor.dim %x, %c0 : tensor<?x2x8x8xf32>
  %0 = tensor.empty(%n) : tensor<?x2x4x4xf32>
  %1 = linalg.fill ins(%lowest : f32) outs(%0 : tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32>
  %2 = tensor.empty() : tensor<2x2xf32>
  %3 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %2 : tensor<?x2x8x8xf32>, tensor<2x2xf32>) outs(%1 : tensor<?x2x4x4xf32>) -> tensor<?x2x4x4xf32>
  %4 = tensor.empty(%n) : tensor<?x2x1x1xf32>
  %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<?x2x1x1xf32>) -> tensor<?x2x1x1xf32>
  %6 = tensor.empty() : tensor<4x4xf32>
  %7 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%3, %6 : tensor<?x2x4x4xf32>, tensor<4x4xf32>) outs(%5 : tensor<?x2x1x1xf32>) -> tensor<?x2x1x1xf32>
  %8 = linalg.generic {indexing_maps = [#pooled, #pooled], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%7 : tensor<?x2x1x1xf32>) outs(%4 : tensor<?x2x1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %count : f32
    linalg.yield %a : f32
  } -> tensor<?x2x1x1xf32>
  %9 = tensor.collapse_shape %8 [[0], [1, 2, 3]] : tensor<?x2x1x1xf32> into tensor<?x2xf32>
  %10 = tensor.empty(%n) : tensor<?x4xf32>
  %11 = linalg.fill ins(%zero : f32) outs(%10 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %12 = linalg.matmul ins(%9, %weights : tensor<?x2xf32>, tensor<2x4xf32>) outs(%11 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %13 = linalg.generic {indexing_maps = [#rows, #column, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%12, %bias : tensor<?x4xf32>, tensor<4xf32>) outs(%10 : tensor<?x4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %a = arith.addf %in, %in_0 : f32
    linalg.yield %a : f32
  } -> tensor<?x4xf32>
  %14 = linalg.softmax dimension(1) ins(%13 : tensor<?x4xf32>) outs(%10 : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %14 : tensor<?x4xf32>
}
