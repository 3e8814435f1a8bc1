// What does not parse.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{custom op 'mdh.compute' expected the name of a dimension}}
  mdh.compute (8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{custom op 'mdh.compute' expected an integer or an SSA value of type index}}
  mdh.compute (i = n)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    // expected-error @+1 {{custom op 'mdh.compute' unknown combine operator 'sum': expected cc, pw(...) or ps(...)}}
    md_hom(id, (sum))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    // expected-error @+1 {{custom op 'mdh.compute' unknown scalar function 'mul': expected `id`, the name of a binary arith operation (such as mulf), or a region `(%a: f32, ...) { ... }`}}
    md_hom(mul, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    // expected-error @+1 {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic}}
    out_view(y = %y[i * i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{unbalanced '<' character in pretty dialect name}}
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32
  return
}

// -----
// expected-error @+1 {{custom op 'mdh.combine' declares 'associative' twice: expected each of commutative, associative and neutral(...) at most once}}
mdh.combine @first associative neutral(0.0 : f32) associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}

// -----
// Words of index functions are no names.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{found 'symbol', which is a word of index functions, expected another name for the dimension}}
  mdh.compute (symbol = 8)
    out_view(y = %y[symbol] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[symbol] : memref<8xf32>)
  return
}

// -----
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{found 'mod', which is a word of index functions, expected another name for the dimension}}
  %mda = mdh.inp_view (mod = 8) (x = %x[mod] : tensor<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// Words of domains and buffers are.
func.func @f(%x: memref<8x8xf32>, %y: memref<8xf32>) {
  mdh.compute (to = 0 to 8 step 1 width 1, step = 8)
    out_view(origin = %y[to] origin(0) : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(pad = %x[to, step] pad(0.0 : f32) : memref<8x8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    // expected-error @+1 {{found -9223372036854775808, expected a larger integer}}
    inp_view(x = %x[i] origin(-9223372036854775808) : memref<8xf32>)
  return
}

// -----
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{found -9223372036854775808, expected a larger integer}}
  mdh.compute (i = -9223372036854775808 to 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
