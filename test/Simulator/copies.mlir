// Asynchronous copies: the next tile is in flight while one is computed. Each mistake that can be made
// with them is found.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "list(range(1024))"
// RUN: mdh run %s --device sim --report --in x=%t.x.npy --random 1 --out y=%t.y.npy | FileCheck %s --check-prefix CLEAN
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "a[[0, 63, 64, 127]]" | FileCheck %s --check-prefix VALUE
// RUN: %interpreted mdh run %s --device cuda --in x=%t.x.npy --random 1 --out y=%t.gpu.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.gpu.npy "a[[0, 63, 64, 127]]" | FileCheck %s --check-prefix VALUE
// CLEAN: no mistakes found
// m + (m + 128) + .., where the last seven of all numbers count as zeros.
// VALUE: 4088{{.*}}3584{{.*}}3577{{.*}}4096
//
// RUN: mdh compile %s --emit ptx --chip sm_80 | FileCheck %s --check-prefix PTX
// PTX: cp.async.ca.shared.global [%rd{{.*}}], [%rd{{.*}}], 4, %r{{[0-9]+}};
// PTX: cp.async.commit_group;
// PTX: cp.async.wait_group 1;
//
// The wait leaves one group too many in flight: what is read is not there yet.
// RUN: sed 's/numGroups = 1/numGroups = 2/' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix EARLY
// EARLY: mlir:[[#]]:[[#]]: read of what was not written with {{.*}}.mlir:[[#]]:[[#]] ({{.*}} times): block {{.*}} reads 4 bytes of shared memory, which a copy has not written yet: thread {{[0-9]+}} has to wait for it first
// RUN: %interpreted mdh run %t.mlir --device cuda --in x=%t.x.npy --random 1 --out y=%t.gpu.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.gpu.npy "a[[0, 63, 64, 127]]" | FileCheck %s --check-prefix GARBAGE
// GARBAGE-NOT: {{4088|3584|3577|4096}}
//
// No wait at all.
// RUN: sed '/nvgpu.device_async_wait/d' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix NEVER
// NEVER: mlir:[[#]]:[[#]]: copy without a wait ({{.*}} times): block {{.*}} thread {{.*}} ends with 8 copies in flight
//
// The copies are in no group, so that no wait is for them.
// RUN: sed '/g = nvgpu.device_async_create_group/d' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix NEVER
//
// A thread waits for its own copies only: others need a barrier behind that.
// RUN: sed '/gpu.barrier .. arrived/d' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix ARRIVED
// ARRIVED: mlir:[[#]]:[[#]]: read of what was not written with {{.*}} reads 4 bytes of shared memory, which a copy has not written yet
//
// A copy to what others may still read.
// RUN: sed '/gpu.barrier .. used/d' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix USED
// USED: mlir:[[#]]:[[#]]: data race ({{.*}} times): block {{.*}} writes 4 bytes of byte {{.*}} of shared memory, what block {{.*}} thread {{.*}} reads
//
// The target is written while the copy may write it.
// RUN: sed 's|// (target)||' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix TARGET
// TARGET: mlir:[[#]]:[[#]]: data race with {{.*}} writes 4 bytes of shared memory, which a copy has not written yet
//
// The source is written while the copy may read it.
// RUN: sed 's|// (source)||' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix SOURCE
// SOURCE: mlir:[[#]]:[[#]]: data race with {{.*}} writes 4 bytes of device memory, which a copy may still read
//
// Eight bytes, at multiples of four.
// RUN: sed 's/, 1, .n :/, 2, %n :/' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix ALIGNED
// RUN: %interpreted not mdh run %t.mlir --device cuda --random 1 2>&1 | FileCheck %s --check-prefix MISALIGNED
// ALIGNED: mlir:[[#]]:[[#]]: copy that is not aligned ({{.*}} times): block {{.*}} copies 8 bytes: expected addresses that are multiples of that
// MISALIGNED: CUDA_ERROR_ILLEGAL_ADDRESS

func.func @sums(%x: memref<1024xf32>, %y: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c1017 = arith.constant 1017 : index
  %zero = arith.constant 0.0 : f32
  %a = gpu.alloc () : memref<1024xf32>
  %b = gpu.alloc () : memref<128xf32>
  gpu.memcpy %a, %x : memref<1024xf32>, memref<1024xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
      workgroup(%w : memref<2x66xf32, #gpu.address_space<workgroup>>) {
    %first = arith.muli %bx, %c64 : index
    %i = arith.addi %first, %tx : index
    %other = arith.subi %c63, %tx : index
    %none = nvgpu.device_async_create_group {}
    %sum = scf.for %tile = %c0 to %c9 step %c1 iter_args(%part = %zero) -> (f32) {
      %slot = arith.remui %tile, %c2 : index
      %before = arith.subi %c1, %slot : index
      %is_there = arith.cmpi ult, %tile, %c8 : index
      scf.if %is_there {
        %start = arith.muli %tile, %c128 : index
        %at = arith.addi %start, %i : index
        %is_read = arith.cmpi ult, %at, %c1017 : index
        %n = arith.select %is_read, %c1, %c0 : index
        %t = nvgpu.device_async_copy %a[%at], %w[%slot, %tx], 1, %n : memref<1024xf32> to memref<2x66xf32, #gpu.address_space<workgroup>>
        // (target) memref.store %zero, %w[%slot, %tx] : memref<2x66xf32, #gpu.address_space<workgroup>>
        // (source) memref.store %zero, %a[%at] : memref<1024xf32>
      }
      %g = nvgpu.device_async_create_group {}
      nvgpu.device_async_wait %none {numGroups = 1 : i32}
      gpu.barrier // arrived
      %is_later = arith.cmpi ugt, %tile, %c0 : index
      %more = scf.if %is_later -> (f32) {
        %v = memref.load %w[%before, %other] : memref<2x66xf32, #gpu.address_space<workgroup>>
        %s = arith.addf %part, %v : f32
        scf.yield %s : f32
      } else {
        scf.yield %part : f32
      }
      gpu.barrier // used
      scf.yield %more : f32
    }
    memref.store %sum, %b[%i] : memref<128xf32>
    gpu.terminator
  }
  gpu.memcpy %y, %b : memref<128xf32>, memref<128xf32>
  gpu.dealloc %a : memref<1024xf32>
  gpu.dealloc %b : memref<128xf32>
  return
}
