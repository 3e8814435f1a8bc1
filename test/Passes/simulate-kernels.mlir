// A launch becomes a call of the simulator, its body a function of what it captures and of the thread.
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-simulate-kernels | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-simulate --mdh-llvm=asm=cpu --mdh-watch | FileCheck %s --check-prefix WATCH
// CHECK:       func.func private @mdh_sim_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
// CHECK:       func.func private @f_kernel(%[[CONTEXT:.*]]: !llvm.ptr, %[[THREAD:.*]]: !llvm.ptr) attributes {mdh.kernel}
// CHECK-NEXT:    llvm.load %[[CONTEXT]]
// CHECK:         %[[PLACE:.*]] = llvm.load %[[THREAD]]
// CHECK:         %[[X:.*]] = llvm.extractvalue %{{.*}}[0] : !llvm.array<3 x i32>
// CHECK:         %[[SITE:.*]] = llvm.mlir.addressof @mdh_site
// CHECK-NEXT:    call @mdh_sim_barrier(%[[THREAD]], %[[SITE]])
// CHECK-LABEL: func.func @f(
// CHECK:         constant @f_kernel
// CHECK:         call @mdh_sim_launch
// WATCH-LABEL: llvm.func @f_kernel(
// WATCH:         llvm.call @mdh_sim_read(%{{.*}}, %{{.*}}, %[[FOUR:.*]], %{{.*}})
// WATCH-NEXT:    llvm.load
// WATCH:         llvm.call @mdh_sim_write(
// WATCH-NEXT:    llvm.store
func.func @f(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %v = memref.load %x[%tx] : memref<8xf32>
    gpu.barrier
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%tx] : memref<8xf32>
    gpu.terminator
  }
  return
}

// -----

// The host's own code stays.
// Silent: nothing in it is a kernel.
// CHECK-LABEL: func.func @host
// CHECK-NOT:   @mdh_sim
// CHECK:       scf.parallel
func.func @host(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %zero, %x[%i] : memref<8xf32>
    scf.reduce
  }
  return
}

// -----

func.func @reduce() {
  %c1 = arith.constant 1 : index
  %x = arith.constant 1 : i32
  // expected-error @+1 {{has 'gpu.all_reduce' inside, which is not simulated}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %s = gpu.all_reduce add %x uniform {} : (i32) -> i32
    gpu.terminator
  }
  return
}
