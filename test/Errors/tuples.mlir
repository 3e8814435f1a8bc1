// The scalar function, the tuple, and what is stored of it.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Its arguments against what is read.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a scalar function of (f32, f32), but its input accesses read (f32): expected an argument of the element type for each access}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32, %b: f32) {
      mdh.yield %a : f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// Its arguments' types.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op has a scalar function of (f64), but the MDA's tuple is (f32)}}
  %hom = mdh.hom((%a: f64) {
    mdh.yield %a : f64
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f64>
  return
}

// -----
// A point's index in a dimension that is not there.
func.func @f(%y: memref<8xindex>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xindex>)
    md_hom(() {
      // expected-error @+1 {{'mdh.index' op asks for the index in dimension 1, but the domain has 1 dimension: expected a number below}}
      %j = mdh.index 1 : index
      mdh.yield %j : index
    }, (cc))
    inp_view()
  return
}

// -----
// A point's index where there is no point.
mdh.combine @f associative (%a: index, %b: index) {
  // expected-error @+1 {{'mdh.index' op stands outside of an mdh.hom and mdh.compute: only their scalar functions have a point}}
  %i = mdh.index 0 : index
  mdh.yield %i : index
}

// -----
// A component that is not there.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op stores component 1 in output 'y', but its tuple has 1 component}}
  mdh.compute (i = 8)
    out_view(_, y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// A component that is stored twice.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op stores component 0 in 'y' and in 'z': expected one place for each component}}
  "mdh.compute"(%x, %y, %z) <{carry_dims = array<i64>, carry_has_outs = array<i64>,
      carry_valids = array<i64>, combine = [#mdh.cc], components = array<i64: 0, 0>,
      dims = ["i"], maps = [[affine_map<(d0) -> (d0)>], [affine_map<(d0) -> (d0)>],
      [affine_map<(d0) -> (d0)>]], names = ["x", "y", "z"],
      operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>,
      static_origins = [array<i64: 0>, array<i64: 0>, array<i64: 0>]}> ({
    ^bb0(%a: f32):
      mdh.yield %a : f32
  }) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----
// A store that would convert a float to an integer.
func.func @f(%x: memref<8xf32>, %y: memref<8xi32>) {
  // expected-error @+1 {{'mdh.compute' op stores component 0 of type f32 in output 'y' of i32: a store converts floats to floats and integers to integers only; convert it in the scalar function}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xi32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// Values that are no scalars.
func.func @f(%x: memref<8xvector<4xf32>>, %y: memref<8xvector<4xf32>>) {
  // expected-error @+1 {{'mdh.compute' op the scalar function has a value of type vector<4xf32>: expected one of i1, i8, i16, i32, i64, index, f16, bf16, f32, f64}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xvector<4xf32>>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xvector<4xf32>>)
  return
}

// -----
// A short name for a function of two, of which there is one.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    // expected-error @+1 {{custom op 'mdh.compute' the scalar function 'mulf' takes two values of one type, but the view has 1 component ('f32'); write the scalar function as a region}}
    md_hom(mulf, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// Several blocks.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op the scalar function must be a region with one block}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32) {
      cf.br ^bb1
    ^bb1:
      mdh.yield %a : f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// Another end.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op the scalar function must end in mdh.yield}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32) {
      llvm.unreachable
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
