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
