// Accesses of kernels say which power of two divides their address.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-align-accesses | FileCheck %s

// Rows of 64 numbers and every fourth one of them: 16 bytes. Every second one: 8.
// CHECK-LABEL: func.func @rows
// CHECK:       memref.load %{{.*}} {alignment = 16 : i64} : memref<64x64xf32>
// CHECK:       memref.store %{{.*}} {alignment = 8 : i64} : memref<64x64xf32>
func.func @rows() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %x = gpu.alloc () : memref<64x64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c32, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %fourth = arith.muli %tx, %c4 : index
    %second = arith.muli %tx, %c2 : index
    %v = memref.load %x[%bx, %fourth] : memref<64x64xf32>
    memref.store %v, %x[%bx, %second] : memref<64x64xf32>
    gpu.terminator
  }
  gpu.dealloc %x : memref<64x64xf32>
  return
}

// Outside of kernels, and of memory that may start anywhere, nothing is known.
// CHECK-LABEL: func.func @anywhere
// CHECK-NOT:   alignment
// CHECK:       return
func.func @anywhere(%x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %x[%c0] : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %v, %x[%c0] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func.func @odd
// CHECK-NOT:   alignment
func.func @odd() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %x = gpu.alloc () : memref<64x63xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c32, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %fourth = arith.muli %tx, %c4 : index
    // expected-remark @+1 {{is an access of one element: no power of two is known to divide its place; index it by multiples, in rows of even lengths}}
    %v = memref.load %x[%bx, %fourth] : memref<64x63xf32>
    // expected-remark @+1 {{is an access of one element}}
    memref.store %v, %x[%bx, %tx] : memref<64x63xf32>
    gpu.terminator
  }
  gpu.dealloc %x : memref<64x63xf32>
  return
}

// Refuses nothing: what is known of an address is right without being said.
