// Tiles that are waited for later are copied asynchronously, bypassing registers.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-copy-asynchronously --canonicalize --cse | FileCheck %s

// Four numbers at once: both rows begin at multiples of 16 bytes. The groups stay.
// CHECK-LABEL: func.func @rows
// CHECK:       gpu.launch
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK:           scf.for %[[J:.*]] = %c0 to %c16 step %c4 {
// CHECK:             nvgpu.device_async_copy %{{.*}}[%[[I]], %[[J]]], %{{.*}}[%{{.*}}, %[[J]]], 4{{.*}} {bypassL1} : memref<64x16xf32> to memref<8x16xf32
// CHECK-NOT:     mdh.compute
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 0
// Outside of kernels all is there at once.
// CHECK:       gpu.terminator
// CHECK-NOT:   nvvm.cp.async
// CHECK:       return
func.func @rows() {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = gpu.alloc () : memref<64x16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %tile = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
    %from = arith.muli %bx, %c8 : index
    %to = arith.addi %from, %c8 : index
    mdh.compute (i = %from to %to, j = 16)
      out_view(to = %tile[i, j] origin(%from, 0) : memref<8x16xf32>)
      md_hom(id, (cc, cc))
      inp_view(from = %x[i, j] : memref<64x16xf32>)
      threads(asynchronous)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.terminator
  }
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 0
  gpu.dealloc %x : memref<64x16xf32>
  return
}

// -----

// Zeros beyond the buffer: who copies several groups asks once whether all of them lie inside, and asks
// for each of them only where they do not.
// CHECK-LABEL: func.func @zeros
// CHECK:         scf.if
// CHECK:           nvgpu.device_async_copy {{.*}}], 4 {bypassL1} : memref<61x16xf32>
// CHECK:         } else {
// CHECK:           %[[READ:.*]] = arith.select %{{.*}}, %c4, %c0
// CHECK:           nvgpu.device_async_copy {{.*}}], 4, %[[READ]] {bypassL1} : memref<61x16xf32>
// One group asks for itself.
// CHECK-NOT:     scf.if
// CHECK:         nvgpu.device_async_copy {{.*}}], 4, %{{.*}} {bypassL1} : memref<64x16xf32>
func.func @zeros() {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = gpu.alloc () : memref<61x16xf32>
  %y = gpu.alloc () : memref<64x16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %tile = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
    %from = arith.muli %bx, %c8 : index
    %to = arith.addi %from, %c8 : index
    mdh.compute (i = %from to %to, j = 16)
      out_view(to = %tile[i, j] origin(%from, 0) : memref<8x16xf32>)
      md_hom(id, (cc, cc))
      inp_view(from = %x[i, j] pad(0.0 : f32) : memref<61x16xf32>)
      threads(asynchronous)
    %next = arith.addi %from, %c1 : index
    mdh.compute (i = %from to %next, j = 4)
      out_view(to = %tile[i, j] origin(%from, 0) : memref<8x16xf32>)
      md_hom(id, (cc, cc))
      inp_view(from = %y[i - 4, j] pad(0.0 : f32) : memref<64x16xf32>)
      threads(asynchronous)
    gpu.terminator
  }
  gpu.dealloc %x : memref<61x16xf32>
  gpu.dealloc %y : memref<64x16xf32>
  return
}

// -----

// CHECK-LABEL: func.func @registers
// CHECK-COUNT-2: mdh.compute
func.func @registers() {
  %c1 = arith.constant 1 : index
  %x = gpu.alloc () : memref<8x16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %tile = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
    // expected-remark @+1 {{is copied through registers: what is beyond the buffer is padded by another number than zero}}
    mdh.compute (i = 8, j = 16)
      out_view(to = %tile[i, j] : memref<8x16xf32>)
      md_hom(id, (cc, cc))
      inp_view(from = %x[i, j] pad(1.0 : f32) : memref<8x16xf32>)
      threads(asynchronous)
    // expected-remark @+1 {{is copied through registers: it reads other memory than the device's}}
    mdh.compute (i = 8, j = 16)
      out_view(to = %tile[i, j] : memref<8x16xf32>)
      md_hom(id, (cc, cc))
      inp_view(from = %tile[i, j] : memref<8x16xf32>)
      threads(asynchronous)
    gpu.terminator
  }
  gpu.dealloc %x : memref<8x16xf32>
  return
}

// -----

// CHECK-LABEL: func.func @space
// CHECK:       mdh.compute
func.func @space() {
  %c1 = arith.constant 1 : index
  %x = gpu.alloc () : memref<8x16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
      workgroup(%tile : memref<8x16xf32, 3>) {
    // expected-remark @+1 {{is copied through registers: it writes to memref<8x16xf32, 3>: expected memory without a layout or space of its own}}
    mdh.compute (i = 8, j = 16)
      out_view(to = %tile[i, j] : memref<8x16xf32, 3>)
      md_hom(id, (cc, cc))
      inp_view(from = %x[i, j] : memref<8x16xf32>)
      threads(asynchronous)
    gpu.terminator
  }
  gpu.dealloc %x : memref<8x16xf32>
  return
}

// -----

// CHECK-LABEL: func.func @device
// CHECK:       mdh.compute
func.func @device() {
  %c1 = arith.constant 1 : index
  %x = gpu.alloc () : memref<8x16xf32>
  %y = gpu.alloc () : memref<8x16xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-remark @+1 {{is copied through registers: it writes to the device's memory, expected memory of a block}}
    mdh.compute (i = 8, j = 16)
      out_view(to = %y[i, j] : memref<8x16xf32>)
      md_hom(id, (cc, cc))
      inp_view(from = %x[i, j] : memref<8x16xf32>)
      threads(asynchronous)
    gpu.terminator
  }
  gpu.dealloc %x : memref<8x16xf32>
  gpu.dealloc %y : memref<8x16xf32>
  return
}

// Refuses nothing: what cannot bypass registers goes through them.
