// Combine operators: one for all combined dimensions, its laws, its types.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Two operators.
func.func @f(%x: memref<8x5xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op combines dimension 'i' by pw(mulf) and 'k' by pw(addf): expected one operator for all combined dimensions, since with two the result depends on which is combined first; say so by two 'hom's, one after the other}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(mulf), pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
  return
}

// -----
// Several dimensions, but the operands' order matters.
func.func @f(%x: tensor<8x5xf32>, %y: tensor<f32>) {
  %mda = mdh.inp_view (i = 8, k = 5) (x = %x[i, k] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  // expected-error @+1 {{'mdh.hom' op combines dimensions 'i', 'k' by '@first', which is not declared commutative: several combined dimensions have no one order; declare it 'commutative' if it is, or combine only one dimension}}
  %hom = mdh.hom(id, (pw(@first), pw(@first))) %mda : !mdh.mda<8x5, f32> -> !mdh.mda<1x1, f32>
  return
}
mdh.combine @first associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}

// -----
// Not associative.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op combines by '@difference', which is not declared associative: the result must not depend on how the domain is split; declare it 'associative' if it is}}
  %hom = mdh.hom(id, (pw(@difference))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  return
}
mdh.combine @difference commutative (%a: f32, %b: f32) {
  %c = arith.subf %a, %b : f32
  mdh.yield %c : f32
}

// -----
// Too few built-in operators for the tuple.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op combines a tuple of 2 components by 1 built-in operator: expected one for each component}}
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom((%a: f32) {
      mdh.yield %a, %a : f32, f32
    }, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
  return
}

// -----
// An operator on pairs for a tuple of one.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op combines a tuple (f32) by '@wins', which maps (f32, i64, f32, i64) to (f32, i64): expected (f32, f32) to (f32)}}
  %hom = mdh.hom(id, (pw(@wins))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  return
}
mdh.combine @wins associative (%a: f32, %i: i64, %b: f32, %j: i64) {
  mdh.yield %a, %i : f32, i64
}

// -----
// An operator on floats for integers.
func.func @f(%x: memref<8xi32>, %y: memref<i32>) {
  // expected-error @+1 {{'mdh.compute' op combines component 0 of type i32 by 'addf', which works on floats: did you mean 'addi'?}}
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<i32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xi32>)
  return
}

// -----
// An operator on f64 for f32.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op combines a tuple (f32) by '@first', which maps (f64, f64) to (f64): expected (f32, f32) to (f32)}}
  %hom = mdh.hom(id, (pw(@first))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  return
}
mdh.combine @first associative (%a: f64, %b: f64) {
  mdh.yield %a : f64
}

// -----
// A neutral element of another type.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has operator '@first' with a neutral element of types (i32): expected those of the tuple, (f32)}}
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(first)))
    inp_view(x = %x[k] : memref<8xf32>)
    combine first associative neutral(0 : i32) (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}

// -----
// A neutral element that is no number.
// expected-error @+1 {{'mdh.combine' op the neutral element of 'first' has "zero": expected a number with its type, such as 0.0 : f32}}
mdh.combine @first associative neutral("zero") (%a: f32, %b: f32) {
  mdh.yield %a : f32
}

// -----
// A neutral element for half of the tuple.
// expected-error @+1 {{'mdh.combine' op the operator 'first' has a neutral element of types (f32), but the tuple has (f32, i64)}}
mdh.combine @first associative neutral(0.0 : f32) (%a: f32, %i: i64, %b: f32, %j: i64) {
  mdh.yield %a, %i : f32, i64
}

// -----
// A region that does not map two tuples to one.
// expected-error @+1 {{'mdh.combine' op the operator 'first' maps (f32, f64) to (f32): expected the left tuple, then the right one, of the types that it yields}}
mdh.combine @first associative (%a: f32, %b: f64) {
  mdh.yield %a : f32
}

// -----
// expected-error @+1 {{'mdh.combine' op the operator 'nothing' yields nothing: expected the combined tuple}}
mdh.combine @nothing associative () {
  mdh.yield
}

// -----
// expected-error @+1 {{'mdh.combine' op the combine operator 'vectors' has a value of type vector<4xf32>: expected one of i1, i8, i16, i32, i64, index, f16, bf16, f32, f64}}
mdh.combine @vectors associative (%a: vector<4xf32>, %b: vector<4xf32>) {
  mdh.yield %a : vector<4xf32>
}

// -----
// A symbol that is not there.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op combines with @nowhere, which is not defined: expected an mdh.combine of that name in an enclosing module}}
  %hom = mdh.hom(id, (pw(@nowhere))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  return
}

// -----
// A symbol of something else.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op combines with @f, which is a func.func: expected an mdh.combine}}
  %hom = mdh.hom(id, (pw(@f))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  return
}

// -----
// A name that is not built in.
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (k = 8) (x = %x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.hom' op combines with 'add', which is not a built-in operator: expected one of addf, mulf, minimumf, maximumf, addi, muli, minsi, maxsi, minui, maxui, andi, ori, xori, or @add for an operator that an mdh.combine defines}}
  %hom = mdh.hom(id, (pw(add))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  return
}

// -----
// One that is not built in, among others.
func.func @f(%x: memref<8xf32>, %y: memref<f32>, %z: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op combines with 'latest', which is not a built-in operator: expected one of addf, mulf, minimumf, maximumf, addi, muli, minsi, maxsi, minui, maxui, andi, ori, xori, or one operator of its own for the whole tuple}}
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>, z = %z[] : memref<f32>)
    md_hom((%a: f32) {
      mdh.yield %a, %a : f32, f32
    }, (pw(addf, latest)))
    inp_view(x = %x[k] : memref<8xf32>)
  return
}

// -----
// A symbol in an operation that holds its operator itself.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op combines with the symbol @first: an mdh.compute holds its operator itself, as a region `combine first associative (...) {...}` after the inputs}}
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(@first)))
    inp_view(x = %x[k] : memref<8xf32>)
  return
}

// -----
// A label without a region.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op combines with 'first', which is not a built-in operator: expected one of addf, mulf, minimumf, maximumf, addi, muli, minsi, maxsi, minui, maxui, andi, ori, xori, or a region `combine first associative (...) {...}` after the inputs}}
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(first)))
    inp_view(x = %x[k] : memref<8xf32>)
  return
}

// -----
// A region that no dimension combines by.
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
    // expected-error @+1 {{custom op 'mdh.compute' the operator 'first' combines no dimension: expected pw(first) or ps(first) in md_hom}}
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}

// -----
// Two labels, one region.
func.func @f(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op combines dimension 'i' by ps(@first) and 'k' by pw(@second): expected one operator for all combined dimensions, since with two the result depends on which is combined first; say so by two 'hom's, one after the other}}
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (ps(first), pw(second)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
    combine first commutative associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}
