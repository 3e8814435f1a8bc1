// An open dimension with cyclic parts may have no points: the memory for its results is then of no negative size.
//
// RUN: mdh run %s --random 1 --size y=0 --check | FileCheck %s --check-prefix NONE
// RUN: mdh run %s --random 1 --size y=5 --check | FileCheck %s --check-prefix SOME
// NONE: check  passed
// SOME: check  passed: 85 of 85
func.func @f(%a: tensor<?x17xi32>, %init: tensor<?x17xi32>, %n: index) -> tensor<?x17xi32> {
  %b = mdh.compute (y = %n, x = 17)
    out_view(b = %init[y, x] : tensor<?x17xi32>)
    md_hom(addi, (cc, cc))
    inp_view(a = %a[y, x][y, x] : tensor<?x17xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {x: 2}, core {}, L2 {x: *, y: 2}, simd {x: 8}],
      decompose = {order: [main.x, main.y, core.y, core.x, L2.y, L2.x, simd.x]},
      scalar = {order: [L2.y, main.y, main.x, L2.x, simd.x]},
      outputs = {b: {combine: {main.y: L1}}}>)
  return %b : tensor<?x17xi32>
}
