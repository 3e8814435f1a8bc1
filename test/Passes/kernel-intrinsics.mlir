// What a device computes itself is asked of LLVM; a warp's number is arithmetic.
//
// RUN: mdh-opt %s --mdh-kernel-intrinsics | FileCheck %s

// CHECK-LABEL: func.func @known
// CHECK:       gpu.launch
// CHECK:         llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.fma"(%{{.*}}, %{{.*}}, %{{.*}}) : (f32, f32, f32) -> f32
// What has no such function stays.
// CHECK:         math.exp
func.func @known(%x: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %v = memref.load %x[%tx] : memref<32xf32>
    %a = math.sqrt %v : f32
    %b = math.fma %a, %v, %v : f32
    %e = math.exp %b : f32
    memref.store %e, %x[%tx] : memref<32xf32>
    gpu.terminator
  }
  return
}

// CHECK-LABEL: func.func @warps
// CHECK-NOT:   gpu.subgroup_id
// CHECK:       %[[Y:.*]] = gpu.thread_id y
// CHECK:       %[[WIDTH:.*]] = gpu.block_dim x
// CHECK:       arith.divui %{{.*}}, %c32
func.func @warps(%x: memref<32xindex>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %w = gpu.subgroup_id : index
    memref.store %w, %x[%tx] : memref<32xindex>
    gpu.terminator
  }
  return
}

// The host computes its own.
// Silent: it has a C library.
// CHECK-LABEL: func.func @host
// CHECK:       math.sqrt
func.func @host(%v: f32) -> f32 {
  %a = math.sqrt %v : f32
  return %a : f32
}

// Refuses nothing: mdh-lift-kernel-math before it has refused what a device has no code for.
