// Parts of a prefix-sum hand on what they have before carries of the computation apply: where another carry that is
// handed on, too, applies before that of the prefix-sum, there is no place for both.
// RUN: not mdh run %s --random 1 --check 2>&1 | FileCheck %s
// CHECK: has a schedule whose level 'L1.p' splits a prefix-sum with a carry that applies after others: expected it to be the innermost one
func.func @outer_carry_of_parts(%above: memref<4xf32>, %left: memref<f32>, %x: memref<4x4xf32>, %y: memref<4x4xf32>, %right: memref<4xf32>) {
  mdh.compute (p = 4, q = 4)
    out_view(y = %y[p, q] : memref<4x4xf32>)
    md_hom(id, (ps(addf), ps(addf)))
    inp_view(x = %x[p, q] : memref<4x4xf32>)
    carry p (above = %above[q] : memref<4xf32>)
    carry q (left = %left[] : memref<f32>) -> (right = %right[p] : memref<4xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {p: *, q: *}], decompose = {order: [L1.p, L1.q]}>)
  return
}
