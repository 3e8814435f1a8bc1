// Remainders of floats in kernels: f64 is wide enough for those of f32, in seven steps.
//
// RUN: mdh-opt %s --mdh-expand-kernel-remainders | FileCheck %s
// RUN: sed 's/f32/f64/g' %s > %t.mlir
// RUN: not mdh-opt %t.mlir --mdh-expand-kernel-remainders 2>&1 | FileCheck %s --check-prefix DOUBLE
// DOUBLE: error: {{.*}}has no code on a device for f64: expected f16, bf16 or f32
//

// CHECK-LABEL: @kernel
// CHECK:       gpu.launch
// CHECK:         %[[X:.*]] = arith.extf
// CHECK:         %[[Y:.*]] = arith.extf
// CHECK:         %[[A:.*]] = math.absf %[[X]]
// CHECK:         %[[B:.*]] = math.absf %[[Y]]
// CHECK:         %[[Q:.*]] = arith.divf %[[A]], %[[B]]
// CHECK:         %[[T:.*]] = math.trunc %[[Q]]
// CHECK:         %[[N:.*]] = arith.negf %[[T]]
// CHECK:         math.fma %[[N]], %[[B]], %[[A]]
// CHECK-COUNT-6: math.fma
// CHECK-NOT:     math.fma
// CHECK:         arith.truncf
func.func @kernel(%x: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = memref.load %x[%bx] : memref<32xf32>
    %b = memref.load %x[%tx] : memref<32xf32>
    %r = arith.remf %a, %b : f32
    memref.store %r, %x[%tx] : memref<32xf32>
    gpu.terminator
  }
  return
}

// Elsewhere they stay.
// Silent: the host has remainders, and nobody asked for others.
// CHECK-LABEL: @host
// CHECK:       arith.remf
func.func @host(%a: f32, %b: f32) -> f32 {
  %r = arith.remf %a, %b : f32
  return %r : f32
}
