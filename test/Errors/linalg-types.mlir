// Types that upstream has no cast between, so that the body that it makes is wrong: the error is at the operation.
//
// RUN: not mdh run %s --entry sums 2>&1 | FileCheck %s
// CHECK: linalg-types.mlir:[[@LINE+7]]:8: error: 'linalg.matmul' op has no body for these types of elements, as upstream makes it: 'arith.addf' op requires the same type for all operands and results; expected a destination of the type of the inputs or of a wider one; write that and convert its elements, or write a linalg.generic
// CHECK-NOT: error:
//
// The same where the whole file is read.
// RUN: not mdh compile %s --emit formed 2>&1 | FileCheck %s

func.func @sums(%x: tensor<33x17xbf16>, %y: tensor<17x9xbf16>, %u: tensor<33x9xf16>) -> tensor<33x9xf16> {
  %t = linalg.matmul ins(%x, %y : tensor<33x17xbf16>, tensor<17x9xbf16>) outs(%u : tensor<33x9xf16>) -> tensor<33x9xf16>
  return %t : tensor<33x9xf16>
}
