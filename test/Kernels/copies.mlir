// Copies that kernels make. What threads have each of their own cannot be copied by all of them for
// all; several results that are one buffer are written by one output.
// RUN: not mdh run %s --entry private --device sim --random 1 2>&1 | FileCheck %s --check-prefix PRIVATE
// RUN: mdh run %s --entry outputs --device sim --random 1 --check --report | FileCheck %s --check-prefixes CLEAN,PASSED
// RUN: not mdh run %s --entry blocks --device sim --random 1 2>&1 | FileCheck %s --check-prefix BLOCKS
// PRIVATE: has a schedule that stages 'x' at its points: its tiles are in memory that cores have each of their own, but they copy to 'shared' cooperatively: expected tiles that are there for all of them
// BLOCKS: has a schedule that stores 'x' in blocks of 1, but its points read 2 of them: expected a tile size that divides the block's
// CLEAN: no mistakes found
// PASSED: check  passed

func.func @private(%x: memref<5x2x3xf32>, %y: memref<3x5x2xf32>) {
  mdh.compute (i = 5, j = 2, k = 3)
    out_view(y = %y[k, i, j] : memref<3x5x2xf32>)
    md_hom(id, (cc, cc, cc))
    inp_view(x = %x[i, j, k] : memref<5x2x3xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *, k: *}, thread {i: 4, j: 2, k: 4}],
      decompose = {order: [block.j, block.k, block.i, thread.i, thread.k, thread.j],
        assign: {block.j: block.z, block.k: block.y, thread.i: thread.z, thread.j: thread.x, thread.k: thread.y}},
      inputs = {x: {layout: {thread.k: padded(0, 0, 0)}, scalar: shared}}>)
  return
}

// The two sums of each point lie in rows of one buffer.
func.func @outputs(%x: memref<4x9xi32>, %y: memref<8xi32>, %a: memref<i32>, %b: memref<i32>) {
  mdh.compute (i = 4, k = 9)
    out_view(y = %y[2 * i][2 * i + 1] : memref<8xi32>)
    md_hom((%v: i32) {
      mdh.yield %v, %v : i32, i32
    }, (cc, pw(both)))
    inp_view(x = %x[i, k] : memref<4x9xi32>)
    combine both commutative associative (%p: i32, %q: i32, %r: i32, %s: i32) {
      %sum = arith.addi %p, %r : i32
      %most = arith.maxsi %q, %s : i32
      mdh.yield %sum, %most : i32, i32
    }
    carry k (a = %a[] : memref<i32>, b = %b[] : memref<i32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, device {k: 3}, register {k: *}],
      decompose = {order: [block.i, device.k, register.k]}>)
  return
}

// What threads copy out of blocks together has to lie in one, not only what each of them reads.
func.func @blocks(%x: memref<2x2xf32>, %y: memref<2x2xf32>) {
  mdh.compute (i = 2, j = 2)
    out_view(y = %y[i, j] : memref<2x2xf32>)
    md_hom(id, (ps(addf), ps(addf)))
    inp_view(x = %x[i, j] : memref<2x2xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {i: *, j: *}, block {}, shared {}, warp {}, thread {i: 4}, register {}],
      inputs = {x: {stage: {device.j: shared}, layout: {device.j: blocked(1, 1)}, scalar_layout: permuted(2, 1)}}>)
  return
}
