// Tiles whose order is a layout are finished one at a time: results have no memory between the levels of the order.
//
// RUN: not mdh run %s --entry between --random 1 --check 2>&1 | FileCheck %s
// CHECK: has a schedule that combines 'y' in memory of its own from 'main.j' on: expected that outside of the levels of 'tile_order', whose tiles do not follow each other there, or inside of all of them
func.func @between(%x: memref<2x3xf32>, %y: memref<2x3xf32>) {
  mdh.compute (i = 2, j = 3)
    out_view(y = %y[i, j] : memref<2x3xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<2x3xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: 2, j: 3}],
      outputs = {y: {combine: {main.j: L2}}},
      tile_order = {levels: [main.i, main.j], layout: "RegP([2,3],[2,1])"}>)
  return
}

// Cores would write one copy of an input at once.
//
// RUN: not mdh run %s --entry staged --random 1 --check 2>&1 | FileCheck %s --check-prefix STAGED
// STAGED: has a schedule that stages 'x' at 'core.j': expected that outside of the levels of 'tile_order', whose tiles do not follow each other there, or inside of all of them
func.func @staged(%x: memref<8xf32>, %y: memref<8x8xf32>) {
  mdh.compute (i = 8, j = 8)
    out_view(y = %y[i, j] : memref<8x8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2, j: 2}, register {i: 4, j: 4}],
      inputs = {x: {stage: {core.j: L2}}},
      tile_order = {levels: [core.i, core.j], layout: "RegP([2,2],[2,1])"}>)
  return
}

// One after the other, tiles have copies of their own.
//
// RUN: mdh run %s --entry apart --random 1 --check | FileCheck %s --check-prefix APART
// APART: check passed
func.func @apart(%x: memref<8xf32>, %y: memref<8x8xf32>) {
  mdh.compute (i = 8, j = 8)
    out_view(y = %y[i, j] : memref<8x8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: 2, j: 2}, register {i: 4, j: 4}],
      inputs = {x: {stage: {L2.j: L2}}},
      tile_order = {levels: [L2.i, L2.j], layout: "RegP([2,2],[2,1])"}>)
  return
}
