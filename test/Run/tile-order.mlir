// Tiles in an order of their own: given to cores, and one after the other.
// RUN: mdh run %s --entry cores --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry sequence --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry rests --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry three --random 1 --check | FileCheck %s
// CHECK: check  passed: {{.*}} elements compared

// RUN: mdh-opt %s --mdh-tile | FileCheck %s --check-prefix TILE
// TILE-LABEL: func.func @cores(
// TILE:       scf.forall (%{{.*}}) in (16)
// TILE-NOT:   scf.forall
// TILE:       {mapping = [{{.*}}], mdh.level = "core.i, core.j"}
func.func @cores(%A: memref<40x48xf32>, %B: memref<48x64xf32>, %C: memref<40x64xf32>) {
  mdh.compute (i = 40, j = 64, k = 48)
    out_view(C = %C[i, j] : memref<40x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<40x48xf32>, B = %B[k, j] : memref<48x64xf32>)
    schedule(#mdh.schedule<
      asm = cpu,
      layers = [main {k: *}, core {i: 4, j: 4}, L2 {i: 5}, register {i: 2, j: 16, k: 16}],
      decompose = {order: [core.i, core.j, main.k, L2.i, register.k, register.i, register.j]},
      tile_order = {levels: [core.i, core.j], layout: "GenP([4,4],hilbert)"},
      inputs = {B: {stage: {main.k: L2}, layout: {main.k: "GenP([64,16],xor)"}}}>)
  return
}

// Two rows of tiles, column by column, then the next two.
func.func @sequence(%x: memref<32x48xf32>, %y: memref<48x32xf32>) {
  mdh.compute (i = 32, j = 48)
    out_view(y = %y[j, i] : memref<48x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x48xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: 4, j: 6}, register {i: 8}, simd {j: 8}],
      decompose = {order: [L2.i, L2.j, register.i, simd.j]},
      tile_order = {levels: [L2.i, L2.j], layout: "OrderBy(RegP([2,2,6],[1,3,2])).GroupBy([4,6])"}>)
  return
}

// There are fewer points than the tiles have.
func.func @rests(%x: memref<37x21xf32>, %y: memref<37x21xf32>) {
  mdh.compute (i = 37, j = 21)
    out_view(y = %y[i, j] : memref<37x21xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<37x21xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: 8, j: 4}, register {i: 8, j: 8}],
      decompose = {order: [core.j, core.i, register.i, register.j]},
      tile_order = {levels: [core.j, core.i], layout: "GenP([4,8],reverse)"}>)
  return
}

func.func @three(%x: memref<8x12x10xi32>, %y: memref<8x12xi32>) {
  mdh.compute (i = 8, j = 12, k = 10)
    out_view(y = %y[i, j] : memref<8x12xi32>)
    md_hom(id, (cc, cc, pw(addi)))
    inp_view(x = %x[i, j, k] : memref<8x12x10xi32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L3 {i: 2}, L2 {i: 2, j: 3}, L1 {i: 2, j: 2, k: 10}, register {j: 2}],
      decompose = {order: [L3.i, L2.i, L2.j, L1.i, L1.j, L1.k, register.j]},
      tile_order = {levels: [L3.i, L2.i, L2.j], layout: "GenP([2,2,3],table([3,1,0,2,4,5,11,10,9,8,7,6]))"}>)
  return
}
