// Domains that are not well formed, or empty where a value is expected.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// The step.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op has step 0 in dimension 'i': expected at least 1}}
  mdh.compute (i = 8 step 0)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// The width.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op has width 0 in dimension 'i': expected at least 1}}
  mdh.compute (i = 8 step 2 width 0)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// The width against the step.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op has width 3 and step 2 in dimension 'i': expected a width of at most the step}}
  mdh.compute (i = 8 step 2 width 3)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// The number of points.
func.func @f(%x: memref<f32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has a domain of 4000000000 x 4000000000 points, which is more than 2^63 - 1: expected smaller bounds}}
  mdh.compute (i = 4000000000, j = 4000000000)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf), pw(addf)))
    inp_view(x = %x[] : memref<f32>)
  return
}

// -----
// Bounds whose distance does not fit 64 bits, though there are only four points.
func.func @f(%x: memref<f32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has the bounds -5000000000000000000 and 5000000000000000000 in dimension 'i', which are more than 2^63 - 1 apart: expected bounds that are closer to each other}}
  mdh.compute (i = -5000000000000000000 to 5000000000000000000 step 2500000000000000000)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[] : memref<f32>)
  return
}

// -----
// The same in a view; no number of points is right then.
func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'mdh.inp_view' op has the bounds -9223372036854775807 and 9223372036854775807 in dimension 'i', which are more than 2^63 - 1 apart}}
  %mda = mdh.inp_view (i = -9223372036854775807 to 9223372036854775807) (x = %x[] : tensor<f32>)
       : !mdh.mda<9223372036854775807, f32>
  return
}

// -----
// The largest distance, from the smallest number on.
func.func @f(%x: memref<f32>, %y: memref<f32>) {
  mdh.compute (i = -9223372036854775807 to 0 step 4611686018427387904)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[] : memref<f32>)
  return
}

// -----
// An empty dimension, an operator without a neutral element.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op combines no points in dimension 'k' (3 to 3) by '@first', which has no neutral element: expected at least one point, a carry that is always there, or 'neutral(...)' on the operator}}
  mdh.compute (i = 8, k = 3 to 3)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(first)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}

// -----
// All findings of one operation, in the view.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+2 {{'mdh.inp_view' op has step 0 in dimension 'i': expected at least 1}}
  // expected-error @+1 {{'mdh.inp_view' op has width 3 and step 2 in dimension 'j': expected a width of at most the step}}
  %mda = mdh.inp_view (i = 8 step 0, j = 4 step 2 width 3) (x = %x[i] : tensor<8xf32>)
       : !mdh.mda<0x0, f32>
  return
}

// -----
// No dimension.
func.func @f(%x: memref<f32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has no dimensions: expected at least one}}
  mdh.compute ()
    out_view(y = %y[] : memref<f32>)
    md_hom(id, ())
    inp_view(x = %x[] : memref<f32>)
  return
}
