// What is read and written lies in the buffer, and nothing is written twice.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// A read behind the end.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op reads input 'x' at 1..9 in axis 0 ('i + 1'), but that has the indices 0..8: enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 1] : memref<8xf32>)
  return
}

// -----
// A read before the start, by reversal and an origin.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op reads input 'x' at 0..8 in axis 1 ('7 - i'), but that has the indices 1..9: enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'}}
  %mda = mdh.inp_view (i = 8) (x = %x[i, 7 - i] origin(0, 1) : tensor<8x8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// With `mod`, point by point.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op reads input 'x' at 0..5 in axis 0 ('(2 * i) mod 5'), but that has the indices 0..4: enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'}}
  %mda = mdh.inp_view (i = 8) (x = %x[2 * i mod 5] : tensor<4xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// An index that does not fit.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op reads input 'x' at an index '4611686018427387904 * i' in axis 0 that does not fit 64 bits: expected smaller factors, or a smaller domain}}
  %mda = mdh.inp_view (i = 8) (x = %x[4611686018427387904 * i] : tensor<4xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// A division that has no value.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op reads input 'x' at an index 'i floordiv (-2)' in axis 0 that divides by what is not a positive constant: expected a number from 1 on the right of floordiv, ceildiv and mod}}
  %mda = mdh.inp_view (i = 8) (x = %x[i floordiv -2] : tensor<4xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// A write behind the end, of a chain's last hom.
func.func @f(%x: tensor<8x5xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %mda = mdh.inp_view (i = 8, k = 5) (x = %x[i, k] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  %rows = mdh.hom(id, (cc, pw(addf))) %mda : !mdh.mda<8x5, f32> -> !mdh.mda<8x1, f32>
  %scan = mdh.hom(id, (ps(addf), cc)) %rows : !mdh.mda<8x1, f32> -> !mdh.mda<8x1, f32>
  // expected-error @+1 {{'mdh.out_view' op writes output 'y' at 0..8 in axis 0 ('i'), but that has the indices 0..7: enlarge the buffer or shrink the domain}}
  %w = mdh.out_view (i, k) %scan -> (y = %y[i] : tensor<7xf32>) : !mdh.mda<8x1, f32>
  return %w : tensor<7xf32>
}

// -----
// A carry behind the end.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<4xf32>) {
  // expected-error @+1 {{'mdh.compute' op receives carry 'c' at 0..8 in axis 0 ('i'), but that has the indices 0..4: enlarge the buffer or shrink the domain}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i] : memref<4xf32>)
  return
}

// -----
// Written twice: a dimension is missing.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' at [0] twice, from the points (i = 0, j = 0) and (i = 0, j = 1): expected each element to be written by one point; use every kept dimension in the index function, or combine the others by 'pw'}}
  mdh.compute (i = 8, j = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x5xf32>)
  return
}

// -----
// Written twice: dimensions overlap.
func.func @f(%x: memref<8x5xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' at [4] twice, from the points (i = 0, j = 4) and (i = 1, j = 0): expected each element to be written by one point; use every kept dimension in the index function, or combine the others by 'pw'}}
  mdh.compute (i = 8, j = 5)
    out_view(y = %y[4 * i + j] : memref<64xf32>)
    md_hom(id, (cc, ps(addf)))
    inp_view(x = %x[i, j] : memref<8x5xf32>)
  return
}

// -----
// Written twice: dimensions overlap far from their beginnings.
func.func @f(%x: memref<10000xi32>, %y: memref<9980000xi32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' at [997] twice, from the points (i = 0, j = 997) and (i = 1, j = 0): expected each element to be written by one point}}
  mdh.compute (i = 10000, j = 999)
    out_view(y = %y[i * 997 + j] : memref<9980000xi32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i] : memref<10000xi32>)
  return
}

// -----
// Written twice: by two accesses of one buffer.
func.func @f(%x: memref<8xf32>, %y: memref<16xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' at [7] twice, from the points (i = 0) and (i = 7) (by accesses 1 and 0): expected each element to be written by one point; use every kept dimension in the index function, or combine the others by 'pw'}}
  mdh.compute (i = 8)
    out_view(y = %y[i][i + 7] : memref<16xf32>)
    md_hom((%a: f32) {
      mdh.yield %a, %a : f32, f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
