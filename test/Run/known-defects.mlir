// Defects of schedules that are known: what is wrong is asserted until it is put right. The random
// schedules (testing/tests/schedules.rs) count the cases that show one of them, and do not fail.
// RUN: not mdh run %s --random 1 --check 2>&1 | FileCheck %s

// FIXME: partial sums that cores leave have a layout (R4) that does not fit how they are read.
// CHECK: error: the result is not what the definition says
func.func @layout_of_partial_sums(%A: memref<2x2xf32>, %B: memref<2x4xf32>, %C: memref<2x4xf32>) {
  mdh.compute (i = 2, j = 4, k = 2)
    out_view(C = %C[i, j] : memref<2x4xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<2x2xf32>, B = %B[k, j] : memref<2x4xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {}, core {k: 2}, L2 {}, register {j: 2}],
      outputs = {C: {combine: {register.j: L2}, layout: {register.j: permuted(2, 1)}}}>)
  return
}
