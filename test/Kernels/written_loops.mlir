// Loops over one block, one warp and one thread, after upstream's passes: those that are there, and those that may have
// no part.
//
// RUN: mdh-opt %s --pass-pipeline='builtin.module(canonicalize,cse,loop-invariant-code-motion,canonicalize)' | FileCheck %s
// RUN: mdh-opt %s --pass-pipeline='builtin.module(canonicalize,cse,loop-invariant-code-motion,canonicalize,mdh-kernels,mdh-loops)' -o %t.mlir
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "np.arange(200) % 17"
// RUN: mdh run %t.mlir --device sim --report --in arg0=%t.x.npy --random 1 --out arg1=%t.y.npy | FileCheck %s --check-prefix GOOD
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "[np.abs(a - np.load('%t.x.npy') - np.load('%t.x.npy')[::-1]).max()]" | FileCheck %s --check-prefix SAME
// RUN: FileCheck %s --check-prefix LAUNCH < %t.mlir
// GOOD: no mistakes found
// SAME: {{^0$}}

// CHECK-LABEL: func.func @written
// CHECK:       scf.forall (%{{.*}}) in (1) {
// CHECK:         scf.forall (%{{.*}}) in (1) {
// CHECK:           scf.forall (%{{.*}}) in (1) {
// CHECK:             scf.forall (%{{.*}}) in (256) {
// LAUNCH-LABEL: func.func @written
// LAUNCH:       gpu.launch {{.*}} workgroup
func.func @written(%x: memref<200xf32>, %y: memref<200xf32>) {
  %dx = gpu.alloc () : memref<200xf32>
  %dy = gpu.alloc () : memref<200xf32>
  gpu.memcpy %dx, %x : memref<200xf32>, memref<200xf32>
  %c200 = arith.constant 200 : index
  scf.forall (%block) in (1) {
    %tile = memref.alloca() : memref<200xf32, #mdh.memory<"shared", block>>
    scf.forall (%warp) in (1) {
      scf.forall (%one) in (1) {
        scf.forall (%lane) in (256) {
          %is_there = arith.cmpi slt, %lane, %c200 : index
          scf.if %is_there {
            %read = memref.load %dx[%lane] : memref<200xf32>
            memref.store %read, %tile[%lane] : memref<200xf32, #mdh.memory<"shared", block>>
          }
        } {mapping = [#gpu.thread<x>]}
        scf.forall (%lane) in (256) {
          %is_there = arith.cmpi slt, %lane, %c200 : index
          scf.if %is_there {
            %c199 = arith.constant 199 : index
            %other = arith.subi %c199, %lane : index
            %own = memref.load %tile[%lane] : memref<200xf32, #mdh.memory<"shared", block>>
            %others = memref.load %tile[%other] : memref<200xf32, #mdh.memory<"shared", block>>
            %sum = arith.addf %own, %others : f32
            memref.store %sum, %dy[%lane] : memref<200xf32>
          }
        } {mapping = [#gpu.thread<x>]}
      } {mapping = [#gpu.thread<y>]}
    } {mapping = [#gpu.warp<x>]}
  } {mapping = [#gpu.block<x>]}
  gpu.memcpy %y, %dy : memref<200xf32>, memref<200xf32>
  gpu.dealloc %dx : memref<200xf32>
  gpu.dealloc %dy : memref<200xf32>
  return
}
