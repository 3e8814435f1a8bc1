// Among memrefs, what is written is written once and not read.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Read and written.
func.func @f(%x: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op writes output 'y' where it reads input 'x': expected memory of its own, since a point may read what another one has written; write another buffer, or read a copy}}
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
// Two outputs of a triple.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i][7 - i] : memref<8xf32>) : !mdh.mda<8, f32, f32>
  // expected-error @+1 {{'mdh.out_view' op writes output 'b' where it writes output 'a'}}
  mdh.out_view (i) %mda -> (a = %y[i] : memref<8xf32>, b = %y[i] : memref<8xf32>) : !mdh.mda<8, f32, f32>
  return
}

// -----
// A carry that is handed on where it came from, and where the result goes.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %c: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op writes carried-out 'd' where it reads carry 'c'}}
  mdh.compute (k = 8)
    out_view(y = %y[k] : memref<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
    carry k (c = %c[] : memref<f32>) -> (d = %c[] : memref<f32>)
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
