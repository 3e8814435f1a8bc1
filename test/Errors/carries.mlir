// Carries: what they split, and that they fit the tuple.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// A dimension that is not combined.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has a carry for dimension 'i', which is concatenated: parts of a 'cc' dimension are independent; expected a 'pw' or 'ps' dimension}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry i (c = %c[] : memref<f32>)
  return
}

// -----
// Twice the same dimension.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op has two carries for dimension 'k': expected one}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i] : memref<8xf32>)
    carry k (d = %c[i] : memref<8xf32>)
  return
}

// -----
// Two buffers for a tuple of one.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op receives 2 buffers as the carry of dimension 'k': expected one for each of 1 component}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i] : memref<8xf32>, d = %c[i] : memref<8xf32>)
  return
}

// -----
// Two accesses.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op accesses 'c', part of the carry of dimension 'k', 2 times: expected one access}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i][7 - i] : memref<8xf32>)
  return
}

// -----
// Not the type that is combined.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<8xf64>) {
  // expected-error @+1 {{'mdh.compute' op receives a carry of types (f64) in dimension 'k': expected the types that are combined, (f32)}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i] : memref<8xf64>)
  return
}

// -----
// Depends on the dimension it splits.
func.func @f(%x: memref<8x5xf32>, %y: memref<8x5xf32>, %c: memref<8x5xf32>) {
  // expected-error @+1 {{'mdh.compute' op uses dimension 'k' in 'c', part of the carry of dimension 'k': a carry does not depend on its own dimension; drop it from the index function}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i, k] : memref<8x5xf32>)
    md_hom(id, (cc, ps(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i, k] : memref<8x5xf32>)
  return
}

// -----
// Depends on a dimension that is combined point-wise.
func.func @f(%x: memref<8x5xf32>, %y: memref<f32>, %c: memref<5xf32>) {
  // expected-error @+1 {{'mdh.compute' op uses dimension 'k' in 'c', part of the carry of dimension 'i': a carry does not depend on a point-wise combined dimension; drop it from the index function}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf), pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry i (c = %c[k] : memref<5xf32>)
  return
}

// -----
// Carries out what is written twice.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>, %c: memref<8xf32>, %d: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op writes carried-out 'd' at [] twice, from the points (i = 0) and (i = 1): expected each element to be written by one point; use every kept dimension in the index function, or combine the others by 'pw'}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    carry k (c = %c[i] : memref<8xf32>) -> (d = %d[] : memref<f32>)
  return
}

// -----
// In a dimension that is not there.
func.func @f(%x: memref<8xf32>, %y: memref<f32>, %c: memref<f32>) {
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
    // expected-error @+1 {{custom op 'mdh.compute' carry in 'j', which is not a dimension}}
    carry j (c = %c[] : memref<f32>)
  return
}
