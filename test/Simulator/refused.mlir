// What is not simulated is said.
// RUN: not mdh-opt %s --split-input-file --mdh-simulate-kernels 2>&1 | FileCheck %s

// CHECK: error: 'gpu.launch' op has 'gpu.all_reduce' inside, which is not simulated
func.func @reduce() {
  %c1 = arith.constant 1 : index
  %x = arith.constant 1 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %s = gpu.all_reduce add %x uniform {} : (i32) -> i32
    gpu.terminator
  }
  return
}

// -----

// CHECK: error: 'gpu.launch' op is asynchronous: expected a launch that is waited for
func.func @later(%t: !gpu.async.token) {
  %c1 = arith.constant 1 : index
  %done = gpu.launch async [%t] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}

// -----

// CHECK: error: 'gpu.launch' op gives the token of a copy to 'scf.yield', which is not simulated: expected a group or a wait
func.func @token(%x: memref<8xf32>, %some: i1) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1)
      workgroup(%w : memref<8xf32, #gpu.address_space<workgroup>>) {
    %t = nvgpu.device_async_copy %x[%tx], %w[%tx], 1 : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    %u = scf.if %some -> (!nvgpu.device.async.token) {
      scf.yield %t : !nvgpu.device.async.token
    } else {
      %g = nvgpu.device_async_create_group %t
      scf.yield %g : !nvgpu.device.async.token
    }
    nvgpu.device_async_wait %u
    gpu.terminator
  }
  return
}
