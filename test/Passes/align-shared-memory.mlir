// Shared memory of kernels starts at a multiple of the widest access.
//
// RUN: mdh-opt %s --mdh-align-shared-memory | FileCheck %s

module attributes {gpu.container_module} {
  // CHECK-LABEL: gpu.module @kernels
  gpu.module @kernels {
    // CHECK:      gpu.func @tiles
    // CHECK-SAME: workgroup(%{{.*}} : memref<32xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{.*}} : memref<8xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
    gpu.func @tiles(%x: memref<8xf32>)
        workgroup(%a : memref<32xf32, #gpu.address_space<workgroup>>, %b : memref<8xi8, #gpu.address_space<workgroup>>)
        kernel {
      gpu.return
    }
    // Silent: a function without shared memory has nothing to align.
    // CHECK:     gpu.func @none(%{{.*}}: memref<8xf32>) kernel
    // CHECK-NOT: llvm.align
    gpu.func @none(%x: memref<8xf32>) kernel {
      gpu.return
    }
  }
}

// Refuses nothing: memory of every type can start there.
