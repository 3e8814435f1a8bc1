// A constant that the module holds as a resource, as torch-mlir writes weights, is one to the oracle too.
//
// RUN: mdh run %s --check=all | FileCheck %s
// RUN: mdh run %s --no-raise --check=all | FileCheck %s
// CHECK: check passed: 6 of 6 elements compared

func.func @layer(%a: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense_resource<w> : tensor<4x2xf32>
  %b = arith.constant dense<0.5> : tensor<3x2xf32>
  %r = linalg.matmul ins(%a, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%b : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000004000004040000080400000A0400000C0400000E04000000041"
    }
  }
#-}
