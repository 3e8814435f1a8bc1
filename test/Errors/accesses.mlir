// Index functions, origins and padding of buffers.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Too few indices.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op accesses input 'x' by 1 index, but it has 2 axes: expected one index for each axis}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8x5xf32>)
  return
}

// -----
// Too many indices, and no origin.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op accesses input 'x' by 2 indices, but it has 1 axis: expected one index for each axis}}
  %mda = mdh.inp_view (i = 8) (%x[i, i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// Too many origins.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op has an origin of 2 indices for input 'x', which has 1 axis: expected one for each axis}}
  %mda = mdh.inp_view (i = 8) (x = %x[i] origin(0, 1) : tensor<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// Padding of another type.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op pads input 'x' by a value of type i32: expected its element type, f32}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i - 1] pad(0 : i32) : memref<8xf32>)
  return
}

// -----
// Padding that is no number.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op buffer 'x' has "none" as its padding: expected a number of type f32}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i - 1] pad("none") : memref<8xf32>)
  return
}

// -----
// A dimension in an output that is combined point-wise.
func.func @f(%x: memref<8x5xf32>, %y: memref<8x5xf32>) {
  // expected-error @+1 {{'mdh.compute' op uses dimension 'k' in output 'y', but that is combined point-wise: a 'pw' dimension shrinks to one point, which outputs do not use; drop it from the index function, or combine it by 'cc' or 'ps'}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i, k] : memref<8x5xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
  return
}

// -----
// An index function of other dimensions.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op buffer 'x' has an index function of 2 dimensions, but the domain has 1}}
  %mda = "mdh.inp_view"(%x) <{dims = ["i"], maps = [[affine_map<(d0, d1) -> (d1)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>) -> !mdh.mda<8, f32>
  return
}

// -----
// Symbols.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op buffer 'x' has an index function with symbols (affine_map<(d0)[s0] -> (d0 + s0)>): expected dimensions only}}
  %mda = "mdh.inp_view"(%x) <{dims = ["i"], maps = [[affine_map<(d0)[s0] -> (d0 + s0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>) -> !mdh.mda<8, f32>
  return
}

// -----
// No access.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op buffer 'x' has no access: expected at least one}}
  %mda = "mdh.inp_view"(%x) <{dims = ["i"], maps = [[]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64>]}>
      : (tensor<8xf32>) -> !mdh.mda<8>
  return
}

// -----
// A name that is no dimension.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{use of undeclared identifier; expected affine expressions of the dimensions i, k: an index that is read, as in `x[p[i]]` (a gather), is none, since what is legal follows from index functions before anything is read; what to write for it says docs/langref.md under "What is not here"}}
  %mda = mdh.inp_view (i = 8, k = 2) (x = %x[j] : tensor<8xf32>) : !mdh.mda<8x2, f32>
  return
}

// -----
// A gather.
func.func @f(%x: tensor<8xf32>, %p: tensor<8xindex>) {
  // expected-error @+1 {{use of undeclared identifier; expected affine expressions of the dimensions i: an index that is read, as in `x[p[i]]` (a gather), is none}}
  %mda = mdh.inp_view (i = 8) (x = %x[p[i]] : tensor<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// An index that no affine expression is.
func.func @f(%x: tensor<64xf32>) {
  // expected-error @+1 {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic; expected affine expressions of the dimensions i: an index that is read}}
  %mda = mdh.inp_view (i = 8) (x = %x[i * i] : tensor<64xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// A scalar to write into.
func.func @f(%x: memref<8xf32>, %y: f32) {
  // expected-error @+1 {{'mdh.compute' op expected that operand #1 is a tensor or a memref}}
  mdh.compute (k = 8)
    out_view(y = %y[] : f32)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: f32) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : memref<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom(id, (pw(addf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  // expected-error @+1 {{'mdh.out_view' op output 'y' is a value of type f32: expected a tensor or memref to write into}}
  mdh.out_view (k) %hom -> (y = %y[] : f32) : !mdh.mda<1, f32>
  return
}

// -----
// Tensors and memrefs.
func.func @f(%x: memref<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op mixes tensors and memrefs: expected one kind for all of its buffers; bufferize the tensors, or use bufferization.to_tensor on the memrefs}}
  %w = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// Unranked.
func.func @f(%x: memref<*xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op buffer 'x' has type memref<*xf32>: expected a ranked tensor or memref, or a scalar, of i1, i8, i16, i32, i64, index, f16, bf16, f32 or f64}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<*xf32>)
  return
}

// -----
// Names that are taken.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op names two of its buffers 'x': expected names that differ, since schedules and messages go by them}}
  mdh.compute (i = 8)
    out_view(x = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op names two of its dimensions 'i': expected names that differ, since schedules and messages go by them}}
  %mda = mdh.inp_view (i = 8, i = 8) (x = %x[i, i] : tensor<8x8xf32>) : !mdh.mda<8x8, f32>
  return
}
