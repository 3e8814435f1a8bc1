// Scalar functions and combine operators are scalar code, and so is what they call.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Everything that may stand there.
func.func private @known_elsewhere(f32) -> f32
func.func private @twice(%x: f32) -> f32 {
  %y = func.call @half(%x) : (f32) -> f32
  %z = func.call @half(%y) : (f32) -> f32
  return %z : f32
}
func.func private @half(%x: f32) -> f32 {
  %c = arith.constant 0.5 : f32
  %y = arith.mulf %x, %c : f32
  return %y : f32
}
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %s: f32) {
  %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    %i = mdh.index 0 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %b = scf.if %first -> f32 {
      %e = math.exp %a : f32
      scf.yield %e : f32
    } else {
      scf.yield %s : f32
    }
    %c = scf.for %k = %c0 to %i step %c1 iter_args(%sum = %b) -> f32 {
      %next = arith.addf %sum, %s : f32
      scf.yield %next : f32
    }
    %d = scf.while (%v = %c) : (f32) -> f32 {
      %larger = arith.cmpf ogt, %v, %s : f32
      scf.condition(%larger) %v : f32
    } do {
    ^bb0(%v: f32):
      %next = func.call @twice(%v) : (f32) -> f32
      scf.yield %next : f32
    }
    %low, %high = arith.mulsi_extended %i, %i : index
    %e = func.call @known_elsewhere(%d) : (f32) -> f32
    %none = ub.poison : f32
    mdh.yield %e : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  mdh.out_view (i) %hom -> (%y[i] : memref<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----
// Memory.
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32) {
      // expected-error @+1 {{'memref.alloca' op is not scalar code, but stands in the scalar function: expected operations of arith and math, scf.if, scf.for, scf.while, func.call or mdh.index; read the elements of arrays through the inp_view, store results through the out_view}}
      %m = memref.alloca() : memref<f32>
      // expected-error @+1 {{'memref.store' op is not scalar code}}
      memref.store %a, %m[] : memref<f32>
      mdh.yield %a : f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----
// Memory from outside, inside of a loop.
func.func @f(%x: tensor<8xf32>, %m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    %i = mdh.index 0 : index
    %sum = scf.for %k = %c0 to %i step %c1 iter_args(%s = %a) -> f32 {
      // expected-error @+1 {{'memref.load' op is not scalar code}}
      %v = memref.load %m[%k] : memref<8xf32>
      %next = arith.addf %s, %v : f32
      scf.yield %next : f32
    }
    mdh.yield %sum : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// Tensors, in an operator.
mdh.combine @first associative (%a: f32, %b: f32) {
  // expected-error @+1 {{'tensor.from_elements' op is not scalar code, but stands in the combine operator 'first': expected operations of arith and math, scf.if, scf.for, scf.while or func.call; read the elements of arrays through the inp_view, store results through the out_view}}
  %t = tensor.from_elements %a, %b : tensor<2xf32>
  mdh.yield %a : f32
}

// -----
// An element of a vector from outside.
func.func @f(%x: tensor<8xf32>, %v: vector<4xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    // expected-error @+1 {{'vector.extract' op is not scalar code}}
    %b = vector.extract %v[0] : f32 from vector<4xf32>
    mdh.yield %b : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// Arithmetic on vectors, said once of each that starts it.
func.func @f(%x: tensor<8xf32>, %v: vector<4xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    // expected-error @+1 {{'arith.constant' op has a value of type vector<4xf32> in the scalar function: expected one of i1, i8, i16, i32, i64, index, f16, bf16, f32, f64; read the elements of arrays through the inp_view}}
    %c = arith.constant dense<1.0> : vector<4xf32>
    // expected-error @+1 {{'arith.addf' op has a value of type vector<4xf32>}}
    %sum = arith.addf %c, %v : vector<4xf32>
    mdh.yield %a : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// A number of a type that is not one of ours.
mdh.combine @wide associative (%a: i64, %b: i64) {
  // expected-error @+1 {{'arith.extsi' op has a value of type i128 in the combine operator 'wide': expected one of i1, i8, i16, i32, i64, index, f16, bf16, f32, f64}}
  %c = arith.extsi %a : i64 to i128
  %d = arith.trunci %c : i128 to i64
  mdh.yield %d : i64
}

// -----
// A tensor from outside that goes through unchanged.
func.func @f(%x: tensor<8xf32>, %t: tensor<4xf32>, %b: i1) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    // expected-error @+1 {{'arith.select' op has a value of type tensor<4xf32> in the scalar function}}
    %c = arith.select %b, %t, %t : tensor<4xf32>
    mdh.yield %a : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// The point in an operator.
func.func @f(%x: memref<8xindex>, %y: memref<index>) {
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<index>)
    md_hom(id, (pw(first)))
    inp_view(x = %x[k] : memref<8xindex>)
    combine first associative (%a: index, %b: index) {
      // expected-error @+1 {{'mdh.index' op stands in the combine operator 'first', which has no point: expected operations of arith and math, scf.if, scf.for, scf.while or func.call; ask for the index in the scalar function, and yield or pass what is needed of it}}
      %i = mdh.index 0 : index
      mdh.yield %i : index
    }
  return
}

// -----
// A computation in a computation.
func.func @f(%x: tensor<8xf32>, %t: tensor<4xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    // expected-error @+1 {{'mdh.inp_view' op is not scalar code, but stands in the scalar function: expected operations of arith and math, scf.if, scf.for, scf.while, func.call or mdh.index; store the result of one computation, and read it by the inp_view of another}}
    %inner = mdh.inp_view (j = 4) (%t[j] : tensor<4xf32>) : !mdh.mda<4, f32>
    mdh.yield %a : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// Control flow that is none of the three.
mdh.combine @chosen associative (%a: f32, %b: f32) {
  %n = arith.constant 1 : index
  // expected-error @+1 {{'scf.index_switch' op is not scalar code, but stands in the combine operator 'chosen': expected operations of arith and math, scf.if, scf.for, scf.while or func.call; choose by scf.if, repeat by scf.for or scf.while}}
  %c = scf.index_switch %n -> f32
  default {
    scf.yield %b : f32
  }
  mdh.yield %c : f32
}

// -----
// A function that calls itself by way of another one.
func.func private @even(%n: i32) -> i1 {
  %odd = func.call @odd(%n) : (i32) -> i1
  return %odd : i1
}
func.func private @odd(%n: i32) -> i1 {
  %even = func.call @even(%n) : (i32) -> i1
  return %even : i1
}
func.func @f(%x: tensor<8xi32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xi32>) : !mdh.mda<8, i32>
  %hom = mdh.hom((%a: i32) {
    // expected-error @+1 {{'func.call' op in the scalar function calls @odd, which calls @even, which calls @odd again: expected no recursion; use scf.for or scf.while}}
    %b = func.call @odd(%a) : (i32) -> i1
    mdh.yield %b : i1
  }, (cc)) %mda : !mdh.mda<8, i32> -> !mdh.mda<8, i1>
  return
}

// -----
// A function that works on memory, behind one that does not.
func.func private @count(%x: f32) -> f32 {
  %m = memref.alloca() : memref<f32>
  memref.store %x, %m[] : memref<f32>
  return %x : f32
}
func.func private @counted(%x: f32) -> f32 {
  %y = func.call @count(%x) : (f32) -> f32
  return %y : f32
}
mdh.combine @sum associative (%a: f32, %b: f32) {
  // expected-error @+1 {{'func.call' op in the combine operator 'sum' calls @counted, which calls @count, which uses memref.alloca: expected operations of arith and math, scf.if, scf.for, scf.while or func.call; read the elements of arrays through the inp_view, store results through the out_view}}
  %c = func.call @counted(%a) : (f32) -> f32
  %d = arith.addf %c, %b : f32
  mdh.yield %d : f32
}

// -----
// A function that branches.
func.func private @choose(%x: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^bb1, ^bb1
^bb1:
  return %x : f32
}
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %c: i1) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32, %b: i1) {
      // expected-error @+1 {{'func.call' op in the scalar function calls @choose, which branches: expected one block; use scf.if, scf.for or scf.while}}
      %d = func.call @choose(%a, %b) : (f32, i1) -> f32
      mdh.yield %d : f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>, c = %c[] : i1)
  return
}

// -----
// A function on vectors.
func.func private @lanes(%x: f32) -> f32 {
  %v = arith.constant dense<1.0> : vector<4xf32>
  return %x : f32
}
func.func @f(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    // expected-error @+1 {{'func.call' op in the scalar function calls @lanes, which has a value of type vector<4xf32>: expected one of i1, i8, i16, i32, i64, index, f16, bf16, f32, f64; pass the elements of arrays one by one}}
    %b = func.call @lanes(%a) : (f32) -> f32
    mdh.yield %b : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// -----
// A way to round that other code does not follow; to the nearest is what it does anyway.
func.func @f(%x: tensor<8xf64>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf64>) : !mdh.mda<8, f64>
  %hom = mdh.hom((%a: f64) {
    %near = arith.truncf %a to_nearest_even : f64 to f32
    // expected-error @+1 {{'arith.truncf' op rounds downward in the scalar function: expected no rounding mode, or to_nearest_even, which is how all operations round; compare the result with the operand by arith.cmpf, and choose a neighbour of it by arith.select}}
    %low = arith.truncf %a downward : f64 to f32
    mdh.yield %low : f32
  }, (cc)) %mda : !mdh.mda<8, f64> -> !mdh.mda<8, f32>
  return
}

// -----
// The same in a function.
func.func private @cut(%x: f64) -> f32 {
  %y = arith.truncf %x toward_zero : f64 to f32
  return %y : f32
}
func.func @f(%x: tensor<8xf64>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf64>) : !mdh.mda<8, f64>
  %hom = mdh.hom((%a: f64) {
    // expected-error @+1 {{'func.call' op in the scalar function calls @cut, which rounds toward_zero in arith.truncf: expected no rounding mode}}
    %b = func.call @cut(%a) : (f64) -> f32
    mdh.yield %b : f32
  }, (cc)) %mda : !mdh.mda<8, f64> -> !mdh.mda<8, f32>
  return
}

// -----
// Scales of small floats.
func.func @f(%x: tensor<8xf16>, %scale: f32) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf16>) : !mdh.mda<8, f16>
  %hom = mdh.hom((%a: f16) {
    // expected-error @+1 {{'arith.scaling_extf' op is not scalar code, but stands in the scalar function: expected operations of arith and math, scf.if, scf.for, scf.while, func.call or mdh.index; multiply by the scale, and convert by arith.extf or arith.truncf}}
    %b = arith.scaling_extf %a, %scale : f16, f32 to f32
    mdh.yield %b : f32
  }, (cc)) %mda : !mdh.mda<8, f16> -> !mdh.mda<8, f32>
  return
}

// -----
// A call with an array.
func.func private @first(%x: memref<8xf32>, %i: index) -> f32 {
  %y = memref.load %x[%i] : memref<8xf32>
  return %y : f32
}
func.func @f(%x: tensor<8xf32>, %m: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    %i = mdh.index 0 : index
    // expected-error @+1 {{'func.call' op has a value of type memref<8xf32> in the scalar function}}
    %b = func.call @first(%m, %i) : (memref<8xf32>, index) -> f32
    mdh.yield %b : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}
