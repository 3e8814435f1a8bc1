// A block's tile that is written again: threads wait for each other before they overwrite what others read.
//
// RUN: mdh-opt %s --pass-pipeline='builtin.module(mdh-kernels,mdh-loops)' -o %t.mlir
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "np.arange(200) % 17"
// RUN: mdh run %t.mlir --device sim --report --in arg0=%t.x.npy --random 1 --out arg1=%t.y.npy | FileCheck %s
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "[np.abs(a - np.outer([1, 2], np.load('%t.x.npy')[::-1])).max()]" | FileCheck %s --check-prefix SAME
// CHECK: no mistakes found
// SAME: {{^0$}}

func.func @overwritten(%x: memref<200xf32>, %y: memref<2x200xf32>) {
  %dx = gpu.alloc () : memref<200xf32>
  %dy = gpu.alloc () : memref<2x200xf32>
  gpu.memcpy %dx, %x : memref<200xf32>, memref<200xf32>
  scf.forall (%block) in (1) {
    %tile = memref.alloca() : memref<200xf32, #mdh.memory<"shared", block>>
    scf.forall (%thread) in (200) {
      %read = memref.load %dx[%thread] : memref<200xf32>
      memref.store %read, %tile[%thread] : memref<200xf32, #mdh.memory<"shared", block>>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%thread) in (200) {
      %c0 = arith.constant 0 : index
      %c199 = arith.constant 199 : index
      %other = arith.subi %c199, %thread : index
      %read = memref.load %tile[%other] : memref<200xf32, #mdh.memory<"shared", block>>
      memref.store %read, %dy[%c0, %thread] : memref<2x200xf32>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%thread) in (200) {
      %read = memref.load %dx[%thread] : memref<200xf32>
      %twice = arith.addf %read, %read : f32
      memref.store %twice, %tile[%thread] : memref<200xf32, #mdh.memory<"shared", block>>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%thread) in (200) {
      %c1 = arith.constant 1 : index
      %c199 = arith.constant 199 : index
      %other = arith.subi %c199, %thread : index
      %read = memref.load %tile[%other] : memref<200xf32, #mdh.memory<"shared", block>>
      memref.store %read, %dy[%c1, %thread] : memref<2x200xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  gpu.memcpy %y, %dy : memref<2x200xf32>, memref<2x200xf32>
  gpu.dealloc %dx : memref<200xf32>
  gpu.dealloc %dy : memref<2x200xf32>
  return
}
