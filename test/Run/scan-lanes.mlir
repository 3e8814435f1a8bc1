// Prefix-sums in two dimensions under schedules that give the lanes of vectors to one of them:
// whatever the other one's loop does, the lanes of a tile are combined with one another.
// RUN: mdh run %s --entry full --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry split --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry inner --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry whole --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry parallel --random 1 --check | FileCheck %s
// CHECK: check  passed: 126 of 126 elements compared, no difference

// Tiles of one row, as wide as a vector.
#full = #mdh.schedule<asm = cpu, layers = [L2 {i: *, j: 2}, simd {j: 7}],
  decompose = {order: [L2.j, L2.i, simd.j]}>
// Tiles of one row, of which the last one is not full.
#split = #mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {j: 4}],
  decompose = {order: [L2.i, L2.j, simd.j]}>
// The loop over the rows is the inner one.
#inner = #mdh.schedule<asm = cpu, layers = [L2 {j: *}, L1 {i: *}, simd {j: 8}],
  decompose = {order: [L2.j, L1.i, simd.j]}>
// Both loops could stay in registers, but only one running sum does.
#whole = #mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 2}],
  decompose = {order: [L1.i, L1.j, simd.j]}>
#parallel = #mdh.schedule<asm = cpu, layers = [core {i: *}, L2 {j: *}, simd {j: 8}],
  decompose = {order: [core.i, L2.j, simd.j]}>

func.func @full(%x: memref<9x14xi32>, %y: memref<9x14xi64>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi64>)
    md_hom((%v: i32) {
      %w = arith.extsi %v : i32 to i64
      mdh.yield %w : i64
    }, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    schedule(#full)
  return
}
func.func @split(%x: memref<9x14xi32>, %y: memref<9x14xi64>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi64>)
    md_hom((%v: i32) {
      %w = arith.extsi %v : i32 to i64
      mdh.yield %w : i64
    }, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    schedule(#split)
  return
}
func.func @inner(%x: memref<9x14xi32>, %y: memref<9x14xi64>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi64>)
    md_hom((%v: i32) {
      %w = arith.extsi %v : i32 to i64
      mdh.yield %w : i64
    }, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    schedule(#inner)
  return
}
func.func @whole(%x: memref<9x14xi32>, %y: memref<9x14xi64>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi64>)
    md_hom((%v: i32) {
      %w = arith.extsi %v : i32 to i64
      mdh.yield %w : i64
    }, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    schedule(#whole)
  return
}
func.func @parallel(%x: memref<9x14xi32>, %y: memref<9x14xi64>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi64>)
    md_hom((%v: i32) {
      %w = arith.extsi %v : i32 to i64
      mdh.yield %w : i64
    }, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    schedule(#parallel)
  return
}
