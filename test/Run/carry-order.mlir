// Loops over a prefix-sum keep the order in which carries apply: what is carried out to the right has what is above in
// it where the carry from above is the inner one.
// RUN: mdh run %s --entry inner --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry alone --random 1 --check | FileCheck %s
// CHECK: check passed

func.func @inner(%above: memref<4xf32>, %left: memref<f32>, %x: memref<4x5xf32>, %y: memref<4x5xf32>, %right: memref<4xf32>) {
  mdh.compute (p = 4, q = 5)
    out_view(y = %y[p, q] : memref<4x5xf32>)
    md_hom(id, (ps(addf), ps(addf)))
    inp_view(x = %x[p, q] : memref<4x5xf32>)
    carry q (left = %left[] : memref<f32>) -> (right = %right[p] : memref<4xf32>)
    carry p (above = %above[0] : memref<4xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {p: *, q: *}], decompose = {order: [L1.p, L1.q]}>)
  return
}

func.func @alone(%left: memref<f32>, %x: memref<4x5xf32>, %y: memref<4x5xf32>, %right: memref<4xf32>) {
  mdh.compute (p = 4, q = 5)
    out_view(y = %y[p, q] : memref<4x5xf32>)
    md_hom(id, (ps(addf), ps(addf)))
    inp_view(x = %x[p, q] : memref<4x5xf32>)
    carry q (left = %left[] : memref<f32>) -> (right = %right[p] : memref<4xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {p: *, q: *}], decompose = {order: [L1.p, L1.q]}>)
  return
}
