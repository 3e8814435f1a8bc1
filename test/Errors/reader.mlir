// What MLIR's own reader does not survive: the message says so, and what it may be.
// RUN: not mdh run %s --random 0 2>&1 | FileCheck %s
// CHECK: error: '{{.*}}reader.mlir' cannot be read: MLIR's reader crashes on it: it is damaged, nested too deeply, or has what MLIR itself fails on, such as a 'linalg.transpose' without axes; mlir-opt FILE shows where

func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.transpose ins(%x : tensor<f32>) outs(%y : tensor<f32>) permutation = []
  return %r : tensor<f32>
}
