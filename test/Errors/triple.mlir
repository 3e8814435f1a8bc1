// MDAs: where they come from, where they go, and their types.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// As an argument of a function.
func.func @f(%mda: !mdh.mda<8, f32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'mdh.out_view' op takes an MDA (!mdh.mda<8, f32>) that does not come from an mdh.inp_view or mdh.hom of the same block: an MDA is an alias of buffers and crosses no block, call or branch; pass the buffers instead}}
  %w = mdh.out_view (i) %mda -> (y = %y[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %w : tensor<8xf32>
}

// -----
// As a result of one.
func.func @f(%x: tensor<8xf32>) -> !mdh.mda<8, f32> {
  // expected-error @+1 {{'mdh.inp_view' op has a result that 'func.return' uses: an MDA is an alias of buffers and is used by mdh.hom and mdh.out_view of the same block only; store it with mdh.out_view}}
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %mda : !mdh.mda<8, f32>
}

// -----
// Into a loop.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  // expected-error @+1 {{'mdh.inp_view' op has a result that 'mdh.out_view' uses: an MDA is an alias of buffers and is used by mdh.hom and mdh.out_view of the same block only; store it with mdh.out_view}}
  %mda = mdh.inp_view (i = 8) (x = %x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  scf.for %i = %n to %n step %n {
    mdh.out_view (i) %mda -> (y = %y[i] : memref<8xf32>) : !mdh.mda<8, f32>
  }
  return
}

// -----
// The type of a view.
func.func @f(%x: tensor<8xf32>, %n: index) {
  // expected-error @+1 {{'mdh.inp_view' op has a result of type !mdh.mda<8x?, f32>: expected !mdh.mda<3x?, f32>}}
  %mda = mdh.inp_view (i = 3 to 8 step 2, k = %n) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8x?, f32>
  return
}

// -----
// The type of a hom.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op has a result of type !mdh.mda<8, f32>: expected !mdh.mda<1, f32>}}
  %hom = mdh.hom(id, (pw(addf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// One combine operator for each dimension.
func.func @f(%x: tensor<8x5xf32>) {
  %mda = mdh.inp_view (i = 8, k = 5) (x = %x[i, k] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  // expected-error @+1 {{'mdh.hom' op has 1 combine operator for an MDA of 2 dimensions: expected one for each dimension}}
  %hom = mdh.hom(id, (cc)) %mda : !mdh.mda<8x5, f32> -> !mdh.mda<8x5, f32>
  return
}

// -----
func.func @f(%x: memref<8x5xf32>, %y: memref<8x5xf32>) {
  // expected-error @+1 {{'mdh.compute' op has 2 dimensions but 1 combine operator: expected one for each dimension}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i, k] : memref<8x5xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
  return
}

// -----
// One name for each dimension.
func.func @f(%x: tensor<8x5xf32>, %y: tensor<8x5xf32>) {
  %mda = mdh.inp_view (i = 8, k = 5) (x = %x[i, k] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  // expected-error @+1 {{'mdh.out_view' op names 1 dimension of an MDA of 2 dimensions: expected one name for each}}
  %w = mdh.out_view (i) %mda -> (y = %y[i, 0] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  return
}

// -----
// Not an MDA.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{custom op 'mdh.hom' expected an !mdh.mda type, found 'tensor<8xf32>'}}
  %hom = mdh.hom(id, (cc)) %x : tensor<8xf32> -> !mdh.mda<8, f32>
  return
}

// -----
// A view of tensors, stored into a memref.
func.func @f(%x: tensor<8xf32>, %y: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.out_view' op writes memrefs, but its MDA reads 'x' of type tensor<8xf32>: expected one kind for all buffers of a computation; bufferize the tensors, or use bufferization.to_tensor on the memrefs}}
  mdh.out_view (i) %mda -> (y = %y[i] : memref<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// A component that is no scalar.
// expected-error @+1 {{an !mdh.mda has a component of type tensor<3xf32>: expected one of i1, i8, i16, i32, i64, index, f16, bf16, f32, f64}}
func.func private @f(!mdh.mda<3, f32, tensor<3xf32>>)

// -----
// A component that is an MDA.
// expected-error @+1 {{an !mdh.mda has a component of type !mdh.mda<3, f32>: expected one of}}
func.func private @f(!mdh.mda<3, !mdh.mda<3, f32>>)
