// Launches and memory of a device as calls of the library that drives it.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-launch-kernels | FileCheck %s

// The text that names the kernel is there once.
// CHECK-DAG: llvm.mlir.global internal constant @mdh_kernel("f_0\00")
// CHECK-DAG: func.func private @mdh_cuda_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64)
// CHECK-DAG: func.func private @mdh_cuda_allocate(i64) -> !llvm.ptr
// CHECK-DAG: func.func private @mdh_cuda_transfer(!llvm.ptr, !llvm.ptr, i64)
// CHECK-DAG: func.func private @mdh_cuda_free(!llvm.ptr)
// CHECK-NOT: gpu.module
module attributes {gpu.container_module} {
  gpu.module @f_kernels {
    gpu.func @f_0(%x: memref<?x4xf32>, %n: index, %s: f32) kernel {
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @f(
  // Seven words of the descriptor, and two scalars.
  // CHECK: %[[NAME:.*]] = llvm.mlir.addressof @mdh_kernel
  // CHECK: %[[COUNT:.*]] = llvm.mlir.constant(9 : i64)
  // CHECK: call @mdh_cuda_launch(%[[NAME]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[COUNT]])
  // CHECK: call @mdh_cuda_launch
  // CHECK-NOT: gpu.
  func.func @f(%x: memref<?x4xf32>, %n: index, %s: f32) {
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 128 : i32
    %d = gpu.alloc (%n) : memref<?x4xf32>
    gpu.memcpy %d, %x : memref<?x4xf32>, memref<?x4xf32>
    gpu.launch_func @f_kernels::@f_0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%d : memref<?x4xf32>, %n : index, %s : f32)
    gpu.launch_func @f_kernels::@f_0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %bytes args(%d : memref<?x4xf32>, %n : index, %s : f32)
    gpu.memcpy %x, %d : memref<?x4xf32>, memref<?x4xf32>
    gpu.dealloc %d : memref<?x4xf32>
    return
  }
}

// -----

// The host's own memory and calls stay.
// Silent: nothing in it is for a device.
// CHECK-LABEL: func.func @host
// CHECK:       memref.alloc
// CHECK-NOT:   @mdh_cuda
// CHECK:       return
func.func @host(%n: index) {
  %x = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %x : memref<?xf32>
  return
}

// -----

// What lies row by row may start anywhere.
// CHECK-LABEL: func.func @rows
// CHECK:       %[[OFFSET:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK:       %[[BYTES:.*]] = llvm.mul %[[OFFSET]], %{{.*}} : i64
// CHECK:       %[[FROM:.*]] = llvm.getelementptr %{{.*}}[%[[BYTES]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:       call @mdh_cuda_transfer(%{{.*}}, %[[FROM]], %{{.*}})
func.func @rows(%x: memref<4x4xf32, strided<[4, 1], offset: ?>>) {
  %d = gpu.alloc () : memref<4x4xf32>
  gpu.memcpy %d, %x : memref<4x4xf32>, memref<4x4xf32, strided<[4, 1], offset: ?>>
  gpu.dealloc %d : memref<4x4xf32>
  return
}

// -----

func.func @later(%t: !gpu.async.token) -> !gpu.async.token {
  // expected-error @+1 {{is asynchronous: expected an operation that is waited for}}
  %x, %done = gpu.alloc async [%t] () : memref<8xf32>
  return %done : !gpu.async.token
}

// -----

func.func @columns(%x: memref<4x4xf32, strided<[1, 4]>>) {
  // expected-error @+1 {{has memory of type memref<4x4xf32, strided<[1, 4]>>: expected elements row by row}}
  %d = gpu.alloc () : memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

func.func @behind() {
  // expected-error @+1 {{has memory of type memref<4xf32, strided<[1], offset: 4>>: expected elements row by row}}
  %d = gpu.alloc () : memref<4xf32, strided<[1], offset: 4>>
  return
}

// -----

func.func @wide(%x: memref<4x4xf32, strided<[8, 1]>>) {
  %d = gpu.alloc () : memref<4x4xf32>
  // expected-error @+1 {{has memory of type memref<4x4xf32, strided<[8, 1]>>: expected elements row by row}}
  gpu.memcpy %x, %d : memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32>
  gpu.dealloc %d : memref<4x4xf32>
  return
}
