// Among memrefs, what is written is written once, and read in place only.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Read and written.
func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x' (element [1] is read at (i = 0) and written at (i = 1)): expected memory of its own, or that each element is read only where it is replaced, since a point may read what another one has written; write another buffer, or read a copy}}
  mdh.compute (i = 7)
    out_view(y = %x[i] : memref<8xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i][i + 1] : memref<8xf32>)
  return
}

// -----
// Two outputs, whichever elements they are.
func.func @f(%x: memref<8xf32>, %y: memref<16xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'z' where it writes output 'y': expected memory of its own, since points are in no order; write another buffer, or give one output both accesses}}
  mdh.compute (i = 8)
    out_view(y = %y[2 * i] : memref<16xf32>, z = %y[2 * i + 1] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i][7 - i] : memref<8xf32>)
  return
}

// -----
// Read and written by a triple, whatever is between.
func.func @f(%x: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  %sums = mdh.hom(id, (ps(addf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  %largest = mdh.hom(id, (ps(maximumf))) %sums : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.out_view' op writes output 'y' where it reads input 'x'}}
  mdh.out_view (i) %largest -> (y = %x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// Two outputs, and an element that both write.
func.func @f(%x: memref<8xf32>, %y: memref<16xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'z' where it writes output 'y' (element [8] is written at (i = 0) and written at (i = 4)): expected memory of its own}}
  mdh.compute (i = 8)
    out_view(y = %y[2 * i] : memref<16xf32>, z = %y[i + 8] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i][7 - i] : memref<8xf32>)
  return
}

// -----
// Read elsewhere than written: every other point, the other half, rows that are summed up. One of
// two points is in place, the other one is not.
func.func @f(%x: memref<16xf32>, %m: memref<9x8xf32>) {
  mdh.compute (i = 1 to 15 step 2)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i - 1][i + 1] : memref<16xf32>)
  mdh.compute (i = 8)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[(i floordiv 4) * 4 + i mod 4][i + 8] : memref<16xf32>)
  mdh.compute (i = 1 to 9, j = 8)
    out_view(y = %m[0, j] : memref<9x8xf32>)
    md_hom(id, (pw(addf), cc))
    inp_view(x = %m[i, j] : memref<9x8xf32>)
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x' (element [7] is read at (i = 1) and written at (i = 7))}}
  mdh.compute (i = 1 to 8)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i][i + 6] : memref<16xf32>)
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x' (a part of a combined result may be stored while others still read there)}}
  mdh.compute (i = 8)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : memref<16xf32>)
  return
}

// -----
// Two outputs of a triple.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i][7 - i] : memref<8xf32>) : !mdh.mda<8, f32, f32>
  // expected-error @+1 {{'mdh.out_view' op writes output 'b' where it writes output 'a'}}
  mdh.out_view (i) %mda -> (a = %y[i] : memref<8xf32>, b = %y[i] : memref<8xf32>) : !mdh.mda<8, f32, f32>
  return
}

// -----
// Read in place, but combined: a sum may be stored while others still read there.
func.func @f(%x: memref<8x8xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x'}}
  mdh.compute (i = 8, k = 8)
    out_view(y = %x[i, 0] : memref<8x8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, 0] : memref<8x8xf32>)
  return
}

// -----
// One of two that read it does so in place.
func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'b'}}
  mdh.compute (i = 8)
    out_view(y = %x[i] : memref<8xf32>)
    md_hom(addf, (cc))
    inp_view(a = %x[i] : memref<8xf32>, b = %x[7 - i] : memref<8xf32>)
  return
}

// -----
// The same index functions, but of parts with other origins.
func.func @f(%x: memref<8xf32>, %o: index) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x'}}
  mdh.compute (i = 1 to 8)
    out_view(y = %x[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] origin(1) : memref<8xf32>)
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x'}}
  mdh.compute (i = 1 to 8)
    out_view(y = %x[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] origin(%o) : memref<8xf32>)
  return
}

// -----
// Carries that are replaced by others' ones, and one that is where the result goes.
func.func @f(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %c: memref<8xf32>, %d: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes carried-out 'below' where it reads carry 'left'}}
  mdh.compute (i = 8, j = 8)
    out_view(y = %y[i, j] : memref<8x8xf32>)
    md_hom(id, (ps(addf), ps(addf)))
    inp_view(x = %x[i, j] : memref<8x8xf32>)
    carry i (above = %c[j] : memref<8xf32>) -> (below = %d[j] : memref<8xf32>)
    carry j (left = %d[i] : memref<8xf32>)
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads carry 'above'}}
  mdh.compute (i = 8, j = 8)
    out_view(y = %y[i, j] : memref<8x8xf32>)
    md_hom(id, (ps(addf), cc))
    inp_view(x = %x[i, j] : memref<8x8xf32>)
    carry i (above = %y[0, j] : memref<8x8xf32>)
  return
}

// -----
// A sum that is carried out where it is stored.
func.func @f(%x: memref<8xf32>, %c: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op writes carried-out 'd' where it writes output 'y'}}
  mdh.compute (k = 8)
    out_view(y = %c[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
    carry k (c = %c[] : memref<f32>) -> (d = %c[] : memref<f32>)
  return
}

// -----
// A triple combines on the way, though not in its last hom.
func.func @f(%x: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  %sums = mdh.hom(id, (ps(addf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  %same = mdh.hom(id, (cc)) %sums : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.out_view' op writes output 'y' where it reads input 'x'}}
  mdh.out_view (i) %same -> (y = %x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// In place: an input, of a computation and of a triple; what a tile adds to; a carry that becomes
// the next one.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %m: memref<8x8xf32>, %o: index) {
  mdh.compute (i = 8)
    out_view(z = %x[i] origin(%o) : memref<8xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] origin(%o) : memref<8xf32>, y = %y[7 - i] : memref<8xf32>)
  %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  mdh.out_view (i) %mda -> (z = %x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  mdh.compute (i = 8, k = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(m = %m[i, k] : memref<8x8xf32>)
    carry k (before = %y[i] : memref<8xf32>)
  mdh.compute (i = 8, j = 8)
    out_view(n = %m[i, j] : memref<8x8xf32>)
    md_hom(id, (cc, ps(addf)))
    inp_view(x = %x[i] : memref<8xf32>)
    carry j (left = %y[i] : memref<8xf32>) -> (right = %y[i] : memref<8xf32>)
  return
}

// -----
// Allowed: two inputs in one memory; an input that is a destination among tensors; an output with
// several accesses.
func.func @f(%x: memref<8xf32>, %y: memref<16xf32>, %t: tensor<8xf32>) -> tensor<8xf32> {
  mdh.compute (i = 8)
    out_view(y = %y[2 * i][2 * i + 1] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(a = %x[i] : memref<8xf32>, b = %x[7 - i] : memref<8xf32>)
  %r = mdh.compute (i = 8)
    out_view(r = %t[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[7 - i] : tensor<8xf32>)
  return %r : tensor<8xf32>
}
