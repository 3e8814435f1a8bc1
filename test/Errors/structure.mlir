// The generic form: operands, attributes and results that do not belong together.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Four numbers for each dimension.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op has 1 dimension but 3 static bounds: expected four for each dimension (lower, upper, step, width)}}
  %mda = "mdh.inp_view"(%x) <{dims = ["i"], maps = [[affine_map<(d0) -> (d0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>) -> !mdh.mda<8, f32>
  return
}

// -----
// A bound without its operand.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'mdh.inp_view' op an operand is missing in the bounds of 'i'}}
  %mda = "mdh.inp_view"(%x) <{dims = ["i"], maps = [[affine_map<(d0) -> (d0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, -9223372036854775808, 1, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>) -> !mdh.mda<?, f32>
  return
}

// -----
// An operand without its bound.
func.func @f(%x: tensor<8xf32>, %n: index) {
  // expected-error @+1 {{'mdh.inp_view' op has 0 dynamic bounds but 1 operand for them}}
  %mda = "mdh.inp_view"(%x, %n) <{dims = ["i"], maps = [[affine_map<(d0) -> (d0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 1, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>, index) -> !mdh.mda<8, f32>
  return
}

// -----
// An origin without its operand.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+2 {{'mdh.inp_view' op an operand is missing in the origin of 'x'}}
  // expected-error @+1 {{'mdh.inp_view' op has 1 dynamic origin but 0 operands for them}}
  %mda = "mdh.inp_view"(%x) <{dims = ["i"], maps = [[affine_map<(d0) -> (d0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: -9223372036854775808>]}>
      : (tensor<8xf32>) -> !mdh.mda<8, f32>
  return
}

// -----
// An operand without its origin.
func.func @f(%x: tensor<8xf32>, %n: index) {
  // expected-error @+1 {{'mdh.inp_view' op has 0 dynamic origins but 1 operand for them}}
  %mda = "mdh.inp_view"(%x, %n) <{dims = ["i"], maps = [[affine_map<(d0) -> (d0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 1, 0, 1>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>, index) -> !mdh.mda<8, f32>
  return
}

// -----
// Names, index functions and origins of one buffer, but there are two; and one pad.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+4 {{'mdh.inp_view' op has 2 buffers but 1 name: expected one for each buffer}}
  // expected-error @+3 {{'mdh.inp_view' op has 2 buffers but 1 list of index functions: expected one for each buffer}}
  // expected-error @+2 {{'mdh.inp_view' op has 2 buffers but 1 origin: expected one for each buffer}}
  // expected-error @+1 {{'mdh.inp_view' op has 2 inputs but 1 padding value: expected one for each input, or unit}}
  %mda = "mdh.inp_view"(%x, %x) <{dims = ["i"], maps = [[affine_map<(d0) -> (d0)>]],
      names = ["x"], operandSegmentSizes = array<i32: 2, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>]}>
      : (tensor<8xf32>, tensor<8xf32>) -> !mdh.mda<8, f32>
  return
}

// -----
// A component for each access to an output.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op has 1 access to outputs but 2 components: expected one component for each access}}
  "mdh.compute"(%x, %y) <{carry_dims = array<i64>, carry_has_outs = array<i64>,
      carry_valids = array<i64>, combine = [#mdh.cc], components = array<i64: 0, 0>, dims = ["i"],
      maps = [[affine_map<(d0) -> (d0)>], [affine_map<(d0) -> (d0)>]], names = ["x", "y"],
      operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>, array<i64: 0>]}> ({
    ^bb0(%a: f32):
      mdh.yield %a : f32
  }) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----
// The marks of carries.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has 1 carry but 0 marks of a valid bit and 0 marks of outputs: expected one of both for each}}
  "mdh.compute"(%x, %y, %y) <{carry_dims = array<i64: 0>, carry_has_outs = array<i64>,
      carry_valids = array<i64>, combine = [#mdh.pw<addf>], components = array<i64: 0>,
      dims = ["k"], maps = [[affine_map<(d0) -> (d0)>], [affine_map<(d0) -> ()>],
      [affine_map<(d0) -> ()>]], names = ["x", "y", "c"],
      operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>,
      static_origins = [array<i64: 0>, array<i64>, array<i64>]}> ({
    ^bb0(%a: f32):
      mdh.yield %a : f32
  }) : (memref<8xf32>, memref<f32>, memref<f32>) -> ()
  return
}

// -----
// The buffers of carries.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has 1 carry with 0 buffers, 0 of them with 0 outputs, and 0 valid bits: expected one buffer for each component of each carry}}
  "mdh.compute"(%x, %y) <{carry_dims = array<i64: 0>, carry_has_outs = array<i64: 0>,
      carry_valids = array<i64: 1>, combine = [#mdh.pw<addf>], components = array<i64: 0>,
      dims = ["k"], maps = [[affine_map<(d0) -> (d0)>], [affine_map<(d0) -> ()>]],
      names = ["x", "y"], operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>, static_origins = [array<i64: 0>, array<i64>]}> ({
    ^bb0(%a: f32):
      mdh.yield %a : f32
  }) : (memref<8xf32>, memref<f32>) -> ()
  return
}

// -----
// A dimension of a carry that is not there.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has a carry in dimension -1, but it has 1 dimension}}
  "mdh.compute"(%x, %y, %y) <{carry_dims = array<i64: -1>, carry_has_outs = array<i64: 0>,
      carry_valids = array<i64: 0>, combine = [#mdh.pw<addf>], components = array<i64: 0>,
      dims = ["k"], maps = [[affine_map<(d0) -> (d0)>], [affine_map<(d0) -> ()>],
      [affine_map<(d0) -> ()>]], names = ["x", "y", "c"],
      operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>, pads = [unit],
      static_bounds = array<i64: 0, 8, 1, 1>,
      static_origins = [array<i64: 0>, array<i64>, array<i64>]}> ({
    ^bb0(%a: f32):
      mdh.yield %a : f32
  }) : (memref<8xf32>, memref<f32>, memref<f32>) -> ()
  return
}

// -----
// A result for each tensor that is written.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.out_view' op has results of types (): expected one for each tensor that it writes, (tensor<8xf32>)}}
  "mdh.out_view"(%mda, %x) <{carry_dims = array<i64>, carry_has_outs = array<i64>,
      carry_valids = array<i64>, components = array<i64: 0>, dims = ["i"],
      maps = [[affine_map<(d0) -> (d0)>]], names = ["y"],
      operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, static_origins = [array<i64: 0>]}>
      : (!mdh.mda<8, f32>, tensor<8xf32>) -> ()
  return
}

// -----
// What is no combine operator.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op has "cc" as a combine operator: expected #mdh.cc, #mdh.pw<...> or #mdh.ps<...>}}
  %hom = "mdh.hom"(%mda) <{combine = ["cc"]}> ({
    ^bb0(%a: f32):
      mdh.yield %a : f32
  }) : (!mdh.mda<8, f32>) -> !mdh.mda<8, f32>
  return
}
