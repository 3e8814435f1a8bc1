// Memory without elements is expanded like any other.
//
// RUN: mdh run %s --check=all 2>&1 | FileCheck %s
// CHECK: check passed

func.func @f(%x: memref<1x1x0xi32>, %y: memref<1x1x1x0xi32>) {
  %e = memref.expand_shape %x [[0, 1], [2], [3]] output_shape [1, 1, 1, 0] : memref<1x1x0xi32> into memref<1x1x1x0xi32>
  linalg.copy ins(%e : memref<1x1x1x0xi32>) outs(%y : memref<1x1x1x0xi32>)
  return
}
