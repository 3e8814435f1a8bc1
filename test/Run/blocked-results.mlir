// Tiles of results that lie in memory block by block, of sizes that no block divides.
// RUN: mdh run %s --entry product --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry ordered --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry stencil --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry scans --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry scalars --random 1 --check | FileCheck %s
// CHECK: check  passed: {{.*}} elements compared

// Each core adds to a tile of 11x9 over four parts of k, in 2x3 blocks of 4x4 (rounded up).
//
// RUN: mdh-opt %s --mdh-tile | FileCheck %s --check-prefix TILE
// TILE-LABEL: func.func @product(
// TILE: memref.alloc() {{.*}} : memref<2x144xf32, #mdh.memory<"L2">>
// TILE: to memref<2x12x12xf32, #mdh.layout<OrderBy(RegP([3,4,3,4],[1,3,2,4])).GroupBy([12,12])>>
// TILE-LABEL: func.func @ordered(
// TILE: #mdh.layout<OrderBy(RegP([4,4,3,4],[3,1,4,2])).GroupBy([16,12])>>
func.func @product(%A: memref<11x13xf32>, %B: memref<13x17xf32>, %C: memref<11x17xf32>) {
  mdh.compute (i = 11, j = 17, k = 13)
    out_view(C = %C[i, j] : memref<11x17xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<11x13xf32>, B = %B[k, j] : memref<13x17xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {j: 2}, L1 {i: *, j: 3, k: 4}, register {j: 3, k: 4}],
      decompose = {order: [core.j, L1.k, L1.i, L1.j, register.k, register.j]},
      outputs = {C: {combine: {L1.k: L2}, layout: {L1.k: blocked(4, 4)}}}>)
  return
}

// The axes in another order before they are cut into blocks, and a block that is not used.
func.func @ordered(%A: memref<11x13xi32>, %B: memref<13x9xi32>, %C: memref<11x9xi32>) {
  mdh.compute (i = 11, j = 9, k = 13)
    out_view(C = %C[i, j] : memref<11x9xi32>)
    md_hom(muli, (cc, cc, pw(addi)))
    inp_view(A = %A[i, k] : memref<11x13xi32>, B = %B[k, j] : memref<13x9xi32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L1 {i: *, k: 4}, register {j: *, k: 4}],
      decompose = {order: [L1.k, L1.i, register.k, register.j]},
      outputs = {C: {combine: {L1.k: L2},
        layout: {L1.k: [permuted(2, 1), blocked(4, 4), padded(0, 1, 0, 0)]}}}>)
  return
}

func.func @stencil(%x: memref<13x21xf64>, %y: memref<11x19xf64>) {
  mdh.compute (i = 11, j = 19, r = 3, s = 3)
    out_view(y = %y[i, j] : memref<11x19xf64>)
    md_hom(id, (cc, cc, pw(addf), pw(addf)))
    inp_view(x = %x[i + r, j + s] : memref<13x21xf64>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: 2}, L1 {i: 3, r: 3}, register {i: 2, j: *, s: *}],
      decompose = {order: [core.i, L1.r, L1.i, register.s, register.i, register.j]},
      outputs = {y: {combine: {L1.r: L2}, layout: {L1.r: blocked(5, 8)}}}>)
  return
}

// What a prefix-sum carries out comes from its blocks.
func.func @scans(%x: memref<7x29xi64>, %y: memref<7x29xi64>) {
  mdh.compute (i = 7, j = 29)
    out_view(y = %y[i, j] : memref<7x29xi64>)
    md_hom(id, (cc, ps(addi)))
    inp_view(x = %x[i, j] : memref<7x29xi64>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {j: 3}, L1 {i: *, j: 10}],
      decompose = {order: [L2.j, L1.i, L1.j]},
      outputs = {y: {combine: {L1.i: L1}, layout: {L1.i: blocked(3, 4)}}}>)
  return
}

// What the scalar function writes (S6).
func.func @scalars(%x: memref<11x17xf32>, %y: memref<11x17xf32>) {
  mdh.compute (i = 11, j = 17)
    out_view(y = %y[i, j] : memref<11x17xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<11x17xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: 3, j: 4}, register {i: 4, j: 5}],
      decompose = {order: [L1.i, L1.j, register.i, register.j]},
      outputs = {y: {scalar: L1, scalar_layout: blocked(2, 4)}}>)
  return
}
