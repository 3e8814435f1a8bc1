// Staged tiles of strided domains: read backwards, and in blocks that hold some of the tile's
// indices only.
// RUN: mdh run %s --entry backwards --random 1 --check | FileCheck %s
// CHECK: check  passed: 40 of 40 elements compared, no difference
// RUN: not mdh run %s --entry blocks --random 1 --check 2>&1 | FileCheck %s --check-prefix BLOCKS
// BLOCKS: stores 'x' in blocks of 4, but the tiles of 'register.i' read 6 of them: expected a tile size that divides the block's

#backwards = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 3}],
  decompose = {order: [L2.i, L1.i]}, inputs = {x: {stage: {L1.i: L1}}}>
#blocks = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, register {i: 2}],
  decompose = {order: [L2.i, register.i]},
  inputs = {x: {stage: {L2.i: L2}, layout: {L2.i: blocked(4)}}}>

func.func @backwards(%x: memref<40xf32>, %y: memref<40xf32>) {
  mdh.compute (i = 0 to 37 step 3)
    out_view(y = %y[i] : memref<40xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[39 - i] : memref<40xf32>)
    schedule(#backwards)
  return
}
func.func @blocks(%x: memref<40xf32>, %y: memref<40xf32>) {
  mdh.compute (i = 0 to 37 step 3)
    out_view(y = %y[i] : memref<40xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<40xf32>)
    schedule(#blocks)
  return
}
