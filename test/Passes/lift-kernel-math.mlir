// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-lift-kernel-math | FileCheck %s

// Integer powers in kernels: squares in a loop, and a power of the size with the sign of the base. A sine and a
// cosine at once are two functions.
// CHECK-LABEL: func.func @powers(
// CHECK:       gpu.launch
// CHECK:       %[[POWER:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}}, %[[SQUARE:.*]] = %{{.*}}, %{{.*}}) -> (i32, i32, i32)
// CHECK:         arith.muli %[[SQUARE]], %[[SQUARE]]
// CHECK:       arith.extf %{{.*}} : f32 to f64
// CHECK:       %[[VECTOR:.*]] = math.powf %{{.*}} : vector<1xf64>
// CHECK:       math.copysign
// CHECK:       arith.truncf %{{.*}} : f64 to f32
// CHECK:       math.sin %{{.*}} : vector<1xf32>
// CHECK:       math.cos %{{.*}} : vector<1xf32>
func.func @powers(%k: i32, %x: f32, %m: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %n = math.ipowi %k, %k : i32
    %p = math.fpowi %x, %n : f32, i32
    %s, %c = math.sincos %p : f32
    %sum = arith.addf %s, %c : f32
    memref.store %sum, %m[%c0] : memref<4xf32>
    gpu.terminator
  }
  return
}

// Silent: outside of kernels there is a C library.
// CHECK-LABEL: func.func @host(
// CHECK:       math.exp %{{.*}} : f32
func.func @host(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// -----

func.func @wide(%m: memref<4xf128>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %m[%c0] : memref<4xf128>
    // expected-error @+1 {{has no code on a device: expected one of}}
    %y = math.exp %x : f128
    memref.store %y, %m[%c0] : memref<4xf128>
    gpu.terminator
  }
  return
}
