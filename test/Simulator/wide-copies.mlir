// Asynchronous copies of 16 bytes from a part of a buffer, past one cache; the last one reads three
// numbers, and the fourth is zero.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "[list(range(8 * n, 8 * n + 8)) for n in range(9)]"
// RUN: mdh run %s --device sim --report --in x=%t.x.npy --random 1 --out y=%t.y.npy | FileCheck %s --check-prefix CLEAN
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "a[[0, 7]]" | FileCheck %s --check-prefix VALUE
// RUN: %interpreted mdh run %s --device cuda --in x=%t.x.npy --random 1 --out y=%t.gpu.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.gpu.npy "a[[0, 7]]" | FileCheck %s --check-prefix VALUE
// CLEAN: no mistakes found
// CLEAN: 1 accesses to shared memory in 2 rounds of banks, at best 2; 1 accesses to device memory moved 8 sectors, at best 8
// VALUE: 8{{.*}}9{{.*}}10{{.*}}11{{.*}}12{{.*}}13{{.*}}14{{.*}}15
// VALUE: 64{{.*}}65{{.*}}66{{.*}}67{{.*}}68{{.*}}69{{.*}}70{{.*}} 0
//
// RUN: mdh compile %s --emit ptx --chip sm_80 | FileCheck %s --check-prefix PTX
// PTX: cp.async.cg.shared.global [%rd{{.*}}], [%rd{{.*}}], 16, %r{{[0-9]+}};
// PTX: cp.async.wait_group 0;
//
// RUN: sed '/async.wait.group/d' %s > %t.mlir
// RUN: not mdh run %t.mlir --device sim --report --random 1 | FileCheck %s --check-prefix NEVER
// NEVER: copy without a wait (16 times): block 0,0,0 thread 0,0,0 ends with 1 copies in flight

func.func @rows(%x: memref<9x8xf32>, %y: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %a = gpu.alloc () : memref<9x8xf32>
  %b = gpu.alloc () : memref<8x8xf32>
  gpu.memcpy %a, %x : memref<9x8xf32>, memref<9x8xf32>
  %rows = memref.subview %a[1, 0] [8, 8] [1, 1] : memref<9x8xf32> to memref<8x8xf32, strided<[8, 1], offset: 8>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1)
      workgroup(%w : memref<8x8xf32, #gpu.address_space<workgroup>>) {
    %row = arith.divui %tx, %c2 : index
    %half = arith.remui %tx, %c2 : index
    %column = arith.muli %half, %c4 : index
    %is_last = arith.cmpi eq, %tx, %c15 : index
    %n = arith.select %is_last, %c3, %c4 : index
    %t = nvgpu.device_async_copy %rows[%row, %column], %w[%row, %column], 4, %n {bypassL1}
      : memref<8x8xf32, strided<[8, 1], offset: 8>> to memref<8x8xf32, #gpu.address_space<workgroup>>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    scf.for %k = %c0 to %c4 step %c1 {
      %j = arith.addi %column, %k : index
      %v = memref.load %w[%row, %j] : memref<8x8xf32, #gpu.address_space<workgroup>>
      memref.store %v, %b[%row, %j] : memref<8x8xf32>
    }
    gpu.terminator
  }
  gpu.memcpy %y, %b : memref<8x8xf32>, memref<8x8xf32>
  gpu.dealloc %a : memref<9x8xf32>
  gpu.dealloc %b : memref<8x8xf32>
  return
}
