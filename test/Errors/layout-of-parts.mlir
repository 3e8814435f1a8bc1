// Partial results that cores leave have axes of their own, which a layout of the output
// fits only where they are its own.
// RUN: not mdh run %s --random 1 --check 2>&1 | FileCheck %s
// CHECK: has a schedule that combines 'partial_0' in memory of its own from 'register.j' on: expected row_major, since they are partial results of parts that are computed at the same time
func.func @layout_of_partial_sums(%A: memref<2x2xf32>, %B: memref<2x4xf32>, %C: memref<4x2xf32>) {
  mdh.compute (i = 2, j = 4, k = 2)
    out_view(C = %C[j, i] : memref<4x2xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<2x2xf32>, B = %B[k, j] : memref<2x4xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {}, core {k: 2}, L2 {}, register {j: 2}],
      outputs = {C: {combine: {register.j: L2}, layout: {register.j: permuted(2, 1)}}}>)
  return
}
