// Layouts of the algebra that do not fit the tiles, and orders of tiles that are none.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'layout': input 'B' has tiles of [64, 64] from 'L2.i' on, and the layout 'OrderBy(GenP([32,64],xor)).GroupBy([32,64])' sizes of [32, 64]: expected as many or more}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: 8}, L1 {i: *, j: *, k: *}],
      inputs = {B: {stage: {L2.i: L2}, layout: {L2.i: "GenP([32,64],xor)"}}}>)
  return
}

// -----
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'layout': input 'A': 'OrderBy(RegP([64],[1])).GroupBy([64])' has indices of 1 dimensions, expected one for each of 2 axes}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'layout': input 'B': 'OrderBy(RegP([n,n],[2,1])).GroupBy([n,n])' has the symbols 'n', expected numbers}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: 8}, L1 {i: *, j: *, k: *}],
      inputs = {
        A: {stage: {L2.i: L2}, layout: {L2.i: "Row([64])"}},
        B: {stage: {L2.i: L2}, layout: {L2.i: "Col([n,n])"}}}>)
  return
}

// -----
func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'tile-order': the levels have [8, 4] parts, and the layout 'OrderBy(GenP([8,8],hilbert)).GroupBy([8,8])' sizes of [8, 8]: expected the same}}
  mdh.compute (i = 64, j = 64)
    out_view(y = %y[i, j] : memref<64x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 8, j: 4}, L1 {i: *, j: *}],
      tile_order = {levels: [core.i, core.j], layout: "GenP([8,8],hilbert)"}>)
  return
}

// -----
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'tile-order': 'L2.k' is combined, expected levels of dimensions that are concatenated (cc)}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {j: 4, k: 4}, L1 {i: *, j: *, k: *}],
      tile_order = {levels: [L2.j, L2.k], layout: "GenP([4,4],hilbert)"}>)
  return
}

// -----
func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'tile-order': tile_order: found the levels core.j, core.i, expected some that follow each other in the order of the loops}}
  mdh.compute (i = 64, j = 64)
    out_view(y = %y[i, j] : memref<64x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 8, j: 8}, L1 {i: *, j: *}],
      tile_order = {levels: [core.j, core.i], layout: "GenP([8,8],hilbert)"}>)
  return
}

// -----
func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'tile-order': tile_order: found row_major, expected the text of a layout}}
  mdh.compute (i = 64, j = 64)
    out_view(y = %y[i, j] : memref<64x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 8, j: 8}, L1 {i: *, j: *}],
      tile_order = {levels: [core.i, core.j], layout: row_major}>)
  return
}
