// Schedules whose layouts are any of the algebra: tiles of inputs and of results lie as they say.
// RUN: mdh run %s --entry product --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry cores --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry stencil --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry rests --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry integers --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry phases --random 1 --check | FileCheck %s
// CHECK: check  passed: {{.*}} elements compared

// The tile of B is swizzled, that of A lies in Z order (with room to spare), C's is reversed.
//
// RUN: mdh-opt %s --mdh-split-phases --mdh-tile | FileCheck %s --check-prefix TILE
// RUN: mdh-opt %s --pass-pipeline="builtin.module(mdh-tiles,mdh-vectors{asm=cpu},mdh-loops)" | FileCheck %s --check-prefix LOWERED --implicit-check-not mdh.layout
// TILE-LABEL: func.func @product(
// TILE-DAG: mdh.layout.view %{{.*}} : memref<{{.*}}1536xf32, #mdh.memory<"L3">> to memref<{{.*}}48x32xf32, #mdh.layout<OrderBy(GenP([48,32],xor)).GroupBy([48,32])>>
// TILE-DAG: mdh.layout.view %{{.*}} : memref<{{.*}}256xf32, #mdh.memory<"L2">> to memref<{{.*}}4x64xf32, #mdh.layout<OrderBy(GenP([4,64],morton)).GroupBy([4,64])>>
// TILE-DAG: mdh.layout.view %{{.*}} : memref<{{.*}}128xf32, #mdh.memory<"L2">> to memref<{{.*}}4x32xf32, #mdh.layout<OrderBy(GenP([4,32],reverse)).GroupBy([4,32])>>
// LOWERED-LABEL: func.func @product(
// LOWERED: arith.xori
func.func @product(%A: memref<40x48xf32>, %B: memref<48x64xf32>, %C: memref<40x64xf32>) {
  mdh.compute (i = 40, j = 64, k = 48)
    out_view(C = %C[i, j] : memref<40x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<40x48xf32>, B = %B[k, j] : memref<48x64xf32>)
    schedule(#mdh.schedule<
      asm = cpu,
      layers = [core {j: 2}, L2 {i: *}, L1 {j: 4, k: 3}, register {i: 4, k: 16, j: 8}],
      decompose = {order: [core.j, L2.i, L1.k, L1.j, register.k, register.i, register.j]},
      inputs = {
        A: {stage: {L1.k: L2}, layout: {L1.k: "GenP([4,64],morton)"}},
        B: {stage: {L2.i: L3}, layout: {L2.i: "GenP([48,32],xor)"}}},
      outputs = {C: {combine: {L1.k: L2}, layout: {L1.k: "GenP([4,32],reverse)"}}}>)
  return
}

// A layout of the tile that each core has; the view has two levels of tiles.
func.func @cores(%x: memref<11x33xi64>, %s: memref<11xi64>) {
  mdh.compute (i = 11, j = 33)
    out_view(s = %s[i] : memref<11xi64>)
    md_hom(id, (cc, pw(addi)))
    inp_view(x = %x[i, j] : memref<11x33xi64>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *}, L1 {j: *}, register {j: 8}],
      decompose = {order: [core.i, L2.i, L1.j, register.j]},
      inputs = {x: {stage: {L2.i: L2, L1.j: L1},
        layout: {L2.i: "TileBy([2,5],[4,8]).OrderBy(Col([8,40]))", L1.j: "GenP([1,40],reverse)"}}}>)
  return
}

// Tiles that overlap.
func.func @stencil(%x: memref<34x66xf32>, %y: memref<32x64xf32>) {
  mdh.compute (i = 32, j = 64, r = 3, s = 3)
    out_view(y = %y[i, j] : memref<32x64xf32>)
    md_hom(id, (cc, cc, pw(addf), pw(addf)))
    inp_view(x = %x[i + r, j + s] : memref<34x66xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: *}, L2 {j: 4}, L1 {i: 4}, register {r: 3, s: 3, j: 16}],
      decompose = {order: [core.i, L2.j, L1.i, register.r, register.s, register.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "GenP([6,18],reverse)"}}}>)
  return
}

// Sizes that the tiles do not divide.
func.func @rests(%x: memref<37x21xf32>, %y: memref<21x37xf32>) {
  mdh.compute (i = 37, j = 21)
    out_view(y = %y[j, i] : memref<21x37xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<37x21xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *, j: *}, register {i: 8}, simd {j: 8}],
      decompose = {order: [L2.i, L2.j, register.i, simd.j]},
      inputs = {x: {stage: {L2.i: L2, L2.j: L1}, layout: {L2.j: "GenP([8,32],xor)"}}}>)
  return
}

func.func @integers(%x: memref<16x16xi8>, %y: memref<16xi32>) {
  mdh.compute (i = 16, j = 16)
    out_view(y = %y[i] : memref<16xi32>)
    md_hom((%a: i8) {
      %b = arith.extsi %a : i8 to i32
      mdh.yield %b : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i, j] : memref<16x16xi8>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {j: *}, register {j: 4}, simd {i: 16}],
      decompose = {order: [L2.j, register.j, simd.i]},
      inputs = {x: {stage: {L2.j: L2}, layout: {L2.j: "GenP([16,16],antidiag)"}}}>)
  return
}

// What one loop nest leaves for the next.
func.func @phases(%x: memref<8x16xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8, j = 16)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<8x16xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {j: *}, register {j: 4, i: 2}],
      decompose = {order: [L2.i, L1.j, register.i, register.j]},
      scalar = {order: [L1.j, L2.i, register.j, register.i]},
      inputs = {x: {stage: {L2.i: L2}, layout: {L2.i: "GenP([8,16],reverse)"}}}>)
  return
}
