// A program's own loops may be mapped to cores, blocks and threads: those of one variable are handed to threads on the
// CPU; where computations have kernels, they stay the host's.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(64)"
// RUN: mdh run %s --in x=%t.x.npy --random 1 --out z=%t.z.npy
// RUN: %python %S/Inputs/npy.py show %t.z.npy "[np.abs(a - 3 * np.arange(64)).max()]" | FileCheck %s
// RUN: mdh run %s --in x=%t.x.npy --random 1 --device sim --report --out z=%t.z.npy | FileCheck %s --check-prefix SIM
// RUN: %python %S/Inputs/npy.py show %t.z.npy "[np.abs(a - 3 * np.arange(64)).max()]" | FileCheck %s
// RUN: mdh-opt %s --mdh-outline-parallel | FileCheck %s --check-prefix IR
// SIM:   1 launch
// SIM:   no mistakes found
// CHECK: {{^0$}}
// IR-LABEL: func.func private @f_parallel(
// IR:       scf.forall (%{{.*}}) in (16)
// IR-LABEL: func.func @f(
// IR-NOT:   scf.forall
// IR:       mdh_parallel_for
// IR-NOT:   mdh_parallel_for
// IR:       memref.store
func.func @f(%x: memref<64xf32>, %z: memref<64xf32>) {
  scf.forall (%b) in (4) {
    scf.forall (%t) in (16) {
      %c16 = arith.constant 16 : index
      %o = arith.muli %b, %c16 : index
      %i = arith.addi %o, %t : index
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %z[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  // One part is done at once.
  scf.forall (%p) in (1) {
    %v = memref.load %x[%p] : memref<64xf32>
    memref.store %v, %z[%p] : memref<64xf32>
  } {mapping = [#mdh.core<"core", 0>]}
  mdh.compute (i = 64)
    out_view(y = %z[i] : memref<64xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : memref<64xf32>, z = %z[i] : memref<64xf32>)
  return
}
