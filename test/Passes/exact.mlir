// Integers of the same width in the place of floats: types, constants, operators, code.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-exact | FileCheck %s --implicit-check-not=f16 --implicit-check-not=f32 --implicit-check-not=f64

// Functions, memory, constants of memory, blocks. Integral numbers are themselves; what is larger than all
// integers is the largest, so that it stays neutral.
// CHECK-LABEL: memref.global "private" constant @table : memref<4xi32> = dense<[0, 1, -2, 2147483647]>
memref.global "private" constant @table : memref<4xf32> = dense<[0.0, 1.0, -2.0, 0x7F800000]>

// CHECK-LABEL: func.func @types(
// CHECK-SAME:    %{{.*}}: tensor<?x3xi16>, %{{.*}}: memref<2xi64, strided<[?]>>, %{{.*}}: i1) -> (tensor<?x3xi16>, i32) {
// CHECK-DAG:     arith.constant -2147483648 : i32
// CHECK-DAG:     arith.constant 0 : i32
// CHECK-DAG:     arith.constant dense<3> : tensor<2xi16>
// CHECK:       ^bb1(%{{.*}}: i32):
func.func @types(%t: tensor<?x3xbf16>, %m: memref<2xf64, strided<[?]>>, %is: i1) -> (tensor<?x3xbf16>, f32) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant -0.0 : f32
  %splat = arith.constant dense<3.0> : tensor<2xf16>
  cf.cond_br %is, ^end(%least : f32), ^end(%zero : f32)
^end(%x: f32):
  return %t, %x : tensor<?x3xbf16>, f32
}

// -----

// Built-in operators, neutral elements, padding; the schedule stays.
// CHECK-LABEL: func.func @computations
// CHECK:         mdh.compute
// CHECK:           md_hom(id, (cc, pw(maxsi)))
// CHECK:           inp_view(x = %{{.*}}[i + k] pad(-2147483648 : i32) : memref<8xi32>)
// CHECK:         mdh.compute
// CHECK:           ps(addi, minsi)
// CHECK:         mdh.compute
// CHECK:           combine least commutative associative neutral(2147483647 : i32) (%{{.*}}: i32, %{{.*}}: i32)
// CHECK:           arith.minsi
func.func @computations(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf16>, %w: memref<8xf16>, %s: memref<f32>) {
  mdh.compute (i = 8, k = 3)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(x = %x[i + k] pad(0xFF800000 : f32) : memref<8xf32>)
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>, z = %z[i] : memref<8xf16>)
    md_hom(id, (ps(addf, minimumf)))
    inp_view(x = %x[i] : memref<8xf32>, w = %w[i] : memref<8xf16>)
  mdh.compute (i = 8)
    out_view(s = %s[] : memref<f32>)
    md_hom(id, (pw(least)))
    inp_view(x = %x[i] : memref<8xf32>)
    combine least commutative associative neutral(0x7F800000 : f32) (%a: f32, %b: f32) {
      %m = arith.minimumf %a, %b : f32
      mdh.yield %m : f32
    }
  return
}

// -----

// The ring, the order of signed integers, and conversions.
// CHECK-LABEL: func.func @ring
// CHECK-SAME:    (%[[X:.*]]: i32, %[[Y:.*]]: i32, %[[N:.*]]: i8) -> (i32, i1, i1, i1, i64, i16, i64, i8, i32)
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:         arith.subi %[[ZERO]], %[[X]] : i32
// CHECK:         %[[P:.*]] = arith.muli
// CHECK:         %[[F:.*]] = arith.addi %[[P]], %[[Y]] : i32
// CHECK:         %[[M:.*]] = arith.minsi %[[F]], %[[X]] : i32
// CHECK:         arith.cmpi sle, %[[M]], %[[Y]] : i32
// CHECK:         arith.cmpi ne
// CHECK:         %[[FALSE:.*]] = arith.constant false
// CHECK:         arith.extsi %[[M]] : i32 to i64
// CHECK:         arith.trunci %[[M]] : i32 to i16
// CHECK:         arith.extui %[[N]] : i8 to i64
// CHECK:         arith.trunci %[[M]] : i32 to i8
// CHECK:         return %[[M]], %{{.*}}, %{{.*}}, %[[FALSE]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[M]]
func.func @ring(%x: f32, %y: f32, %n: i8) -> (f32, i1, i1, i1, f64, f16, f64, i8, i32) {
  %a = arith.negf %x : f32
  %b = math.fma %a, %y, %y : f32
  %c = arith.minimumf %b, %x fastmath<nnan> : f32
  %d = arith.cmpf ole, %c, %y : f32
  %e = arith.cmpf une, %c, %y : f32
  %f = math.isnan %c : f32
  %g = arith.extf %c : f32 to f64
  %h = arith.truncf %c : f32 to f16
  %i = arith.uitofp %n : i8 to f64
  %j = arith.fptosi %c : f32 to i8
  %k = arith.bitcast %c : f32 to i32
  return %c, %d, %e, %f, %g, %h, %i, %j, %k : f32, i1, i1, i1, f64, f16, f64, i8, i32
}

// -----

// What stands for NaN is neutral.
// CHECK-LABEL: func.func @numbers
// CHECK-SAME:    (%[[X:.*]]: i16, %[[Y:.*]]: i16)
// CHECK:         %[[NONE:.*]] = arith.constant [[#NAN:]] : i16
// CHECK:         %[[X_NONE:.*]] = arith.cmpi eq, %[[X]], %[[NONE]] : i16
// CHECK:         %[[FIRST:.*]] = arith.select %[[X_NONE]], %[[Y]], %[[X]] : i16
// CHECK:         %[[Y_NONE:.*]] = arith.cmpi eq, %[[Y]], %[[NONE]] : i16
// CHECK:         %[[SECOND:.*]] = arith.select %[[Y_NONE]], %[[X]], %[[Y]] : i16
// CHECK:         arith.maxsi %[[FIRST]], %[[SECOND]] : i16
// CHECK:         arith.constant [[#NAN]] : i16
func.func @numbers(%x: f16, %y: f16) -> (f16, f16) {
  %z = arith.maxnumf %x, %y : f16
  %nan = arith.constant 0x7E00 : f16
  return %z, %nan : f16, f16
}

// -----

// The exponential function is a polynomial; others mix bits.
// CHECK-LABEL: func.func @functions
// CHECK:         arith.muli
// CHECK:         arith.addi
// CHECK:         arith.shrui
// CHECK:         arith.xori
// CHECK-NOT:     math.
func.func @functions(%x: f16, %n: i32) -> (f16, f16, f16, f16) {
  %a = math.exp %x : f16
  %b = math.tanh %a : f16
  %c = math.fpowi %b, %n : f16, i32
  %d, %e = math.sincos %c : f16
  return %a, %c, %d, %e : f16, f16, f16, f16
}

// -----

// Products of matrices have no instruction for integers.
// CHECK-LABEL: func.func @matrices
// CHECK:         mdh.compute
// CHECK-NOT:     schedule
func.func @matrices(%A: memref<8x16xf16>, %B: memref<16x64xf16>, %C: memref<8x64xf32>) {
  // expected-remark @below {{loses its schedule, which is for floats: instruction: results of i32 out of i16, i16, for which 'mma' has no instruction}}
  mdh.compute (i = 8, j = 64, k = 16)
    out_view(C = %C[i, j] : memref<8x64xf32>)
    md_hom((%x: f16, %y: f16) {
      %a = arith.extf %x : f16 to f32
      %b = arith.extf %y : f16 to f32
      %c = arith.mulf %a, %b : f32
      mdh.yield %c : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<8x16xf16>, B = %B[k, j] : memref<16x64xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, warp {i: 1, j: 2}, shared {k: 1}, thread {i: 8, j: 4},
                register {i: 2, j: 2}, mma {i: 2, j: 2, k: 16}],
      decompose = {
        order: [block.i, block.j, warp.i, warp.j, thread.i, thread.j, device.k, shared.k,
                 register.i, register.j, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}
      },
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// -----

// Silent: what has no floats stays.
// CHECK-LABEL: func.func @integers
// CHECK:         arith.addi %{{.*}}, %{{.*}} : i8
func.func @integers(%x: i8) -> i8 {
  %y = arith.addi %x, %x : i8
  return %y : i8
}

// -----

// expected-error @below {{has no form in integers: a function without a body is there for floats only}}
func.func private @outside(f32) -> f32
func.func @refused(%x: f32, %v: vector<4xf32>) -> (f32, vector<4xf32>) {
  // expected-error @below {{has no form in integers: expected scalars: linalg or mdh.compute for more of them}}
  %w = arith.addf %v, %v : vector<4xf32>
  // expected-error @below {{has no form in integers: expected arithmetic, scf, memref, tensor, mdh.compute or linalg.generic}}
  %u = vector.fma %w, %v, %v : vector<4xf32>
  %y = func.call @outside(%x) : (f32) -> f32
  return %y, %u : f32, vector<4xf32>
}
