// For kernels, copies of arrays that a function is given in the device's memory become computations; others are the
// host's.
//
// RUN: mdh-opt %s --mdh-raise-copies="asm=cuda" --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @given(
// CHECK: mdh.compute (i = 8)
// CHECK: asm = cuda
// CHECK-NOT: memref.copy
// CHECK: return
func.func @given(%x: memref<8xf32>, %y: memref<8xf32>) attributes {mdh.device_memory} {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  return
}

// One element without an axis has one there.
// CHECK-LABEL: func.func @element(
// CHECK: %[[X:.*]] = memref.expand_shape %{{.*}} [] output_shape [1] : memref<f32> into memref<1xf32>
// CHECK: mdh.compute
// CHECK: inp_view(from = %[[X]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @element(%x: memref<f32>, %y: memref<f32>) attributes {mdh.device_memory} {
  memref.copy %x, %y : memref<f32> to memref<f32>
  return
}

// CHECK-LABEL: func.func @host(
// CHECK: memref.copy
func.func @host(%x: memref<1000000xf32>, %y: memref<1000000xf32>) {
  // expected-remark @+1 {{stays the host's: expected an array that was given in the device's memory}}
  memref.copy %x, %y : memref<1000000xf32> to memref<1000000xf32>
  return
}
