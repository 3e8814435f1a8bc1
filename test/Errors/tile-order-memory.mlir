// Tiles whose order is a layout are finished one at a time: results have no memory between the levels of the order.
//
// RUN: not mdh run %s --random 1 --check 2>&1 | FileCheck %s
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
