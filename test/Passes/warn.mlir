// Warnings about what is right and slow, and no others.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-warn='asm=cpu vector=32 registers=16' | FileCheck %s
// RUN: not mdh-opt %s --split-input-file --mdh-warn=asm=tpu 2>&1 | FileCheck %s --check-prefix MACHINE
// RUN: not mdh-opt %s --split-input-file --mdh-warn=asm=opencl 2>&1 | FileCheck %s --check-prefix OTHER
// Refuses no computation: a schedule that the machine does not allow is the verifier's.
// OTHER: error: {{.*}}option 'asm' of mdh-warn: 'opencl' has neither cores with vector lanes nor blocks of threads
// MACHINE: error: {{.*}}option 'asm' of mdh-warn: cannot read 'tpu': {{.*}}; expected a file

// The program is left alone.
// CHECK-LABEL: func.func @product
// CHECK-NEXT:  mdh.compute (i = 512, j = 512, k = 512)

func.func @product(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>) {
  // expected-warning @+1 {{the computation of 'C' carries 512 partial results in 64 registers through its loop over 'k' (register.i: 8, register.j: 8, simd.j: 8), and the machine has 16: the others are stored and loaded for each of its points; fewer parts in 'register' fit}}
  mdh.compute (i = 512, j = 512, k = 512)
      out_view(C = %C[i, j] : memref<512x512xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<512x512xf32>, B = %B[k, j] : memref<512x512xf32>)
      schedule(#mdh.schedule<asm = cpu,
        layers = [main {i: *, j: *}, L1 {k: 512}, register {i: 8, j: 8}, simd {j: 8}],
        decompose = {order: [main.i, main.j, L1.k, register.i, register.j, simd.j]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}

// -----
// Half of them fit.
// Silent: what is fast needs no warning.
// CHECK-LABEL: func.func @product
// CHECK-NEXT:  mdh.compute (i = 512, j = 512, k = 512)
func.func @product(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>) {
  mdh.compute (i = 512, j = 512, k = 512)
      out_view(C = %C[i, j] : memref<512x512xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<512x512xf32>, B = %B[k, j] : memref<512x512xf32>)
      schedule(#mdh.schedule<asm = cpu,
        layers = [main {i: *, j: *}, L1 {k: 512}, register {i: 4, j: 2}, simd {j: 8}],
        decompose = {order: [main.i, main.j, L1.k, register.i, register.j, simd.j]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}

// -----
func.func @unrolled(%x: memref<64x65536xf32>, %y: memref<64xf32>) {
  // expected-warning @+1 {{the computation of 'y' is unrolled 2048 times, to some 6144 operations (register.i: 2, register.k: 1024), expected at most 2000: that takes long to compile, and longer to run than a loop; move parts from 'register' to a layer outside of it, which become loops}}
  mdh.compute (i = 64, k = 65536)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom((%a: f32) {
        %b = arith.mulf %a, %a : f32
        mdh.yield %b : f32
      }, (cc, pw(addf)))
      inp_view(x = %x[i, k] : memref<64x65536xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [main {i: *, k: *}, register {i: 2, k: 1024}],
        decompose = {order: [main.i, main.k, register.i, register.k]}>)
  return
}

// -----
// Without a schedule loops are in the order of the dimensions.
func.func @attention(%s: memref<512x512xf32>, %v: memref<512x64xf32>, %o: memref<512x64xf32>) {
  // expected-warning @+1 {{the computation of 'o' evaluates 'math.exp' 64 times for the same operands: it depends on 'q' and 'k' and not on 'j', which is in a loop around; compute it before, over 'q' and 'k' alone, and read the result here}}
  mdh.compute (q = 512, j = 64, k = 512)
      out_view(o = %o[q, j] : memref<512x64xf32>)
      md_hom((%s_qk: f32, %v_kj: f32) {
        %e = math.exp %s_qk : f32
        %p = arith.mulf %e, %v_kj : f32
        mdh.yield %p : f32
      }, (cc, cc, pw(addf)))
      inp_view(s = %s[q, k] : memref<512x512xf32>, v = %v[k, j] : memref<512x64xf32>)
  return
}

// -----
// A function that is called, and a loop.
func.func private @weight(%x: f32) -> f32 {
  %w = math.log %x : f32
  return %w : f32
}

func.func @calls(%s: memref<512x512xf32>, %v: memref<512x?xf32>, %o: memref<512x?xf32>, %n: index) {
  // expected-warning @+1 {{the computation of 'o' evaluates a function that it calls many times for the same operands: it depends on 'q' and 'k' and not on 'j'}}
  mdh.compute (q = 512, j = %n, k = 512)
      out_view(o = %o[q, j] : memref<512x?xf32>)
      md_hom((%s_qk: f32, %v_kj: f32) {
        %e = func.call @weight(%s_qk) : (f32) -> f32
        %p = arith.mulf %e, %v_kj : f32
        mdh.yield %p : f32
      }, (cc, cc, pw(addf)))
      inp_view(s = %s[q, k] : memref<512x512xf32>, v = %v[k, j] : memref<512x?xf32>)
  return
}

// -----
// In the innermost loop it stays the same, and compilers move it out; divisions by constants are
// multiplications.
func.func @fine(%s: memref<512x512xi32>, %v: memref<512x64xi32>, %o: memref<512x64xi32>) {
  mdh.compute (q = 512, k = 512, j = 64)
      out_view(o = %o[q, j] : memref<512x64xi32>)
      md_hom((%s_qk: i32, %v_kj: i32) {
        %e = arith.divsi %s_qk, %s_qk : i32
        %p = arith.muli %e, %v_kj : i32
        mdh.yield %p : i32
      }, (cc, pw(addi), cc))
      inp_view(s = %s[q, k] : memref<512x512xi32>, v = %v[k, j] : memref<512x64xi32>)
  mdh.compute (q = 512, j = 64, k = 512)
      out_view(o = %o[q, j] : memref<512x64xi32>)
      md_hom((%s_qk: i32, %v_kj: i32) {
        %c7 = arith.constant 7 : i32
        %e = arith.divsi %s_qk, %c7 : i32
        %p = arith.muli %e, %v_kj : i32
        mdh.yield %p : i32
      }, (cc, cc, pw(addi)))
      inp_view(s = %s[q, k] : memref<512x512xi32>, v = %v[k, j] : memref<512x64xi32>)
  return
}

// -----
// Terms of a sum that are unrolled have operands of their own.
func.func @terms(%A: memref<512x512xf32>, %B: memref<512x512xf32>, %C: memref<512x512xf32>) {
  // expected-warning @+1 {{the computation of 'C' unrolls 256 terms of its sums (register.k: 256), whose operands take 256 vectors beside 1 of results, and the machine has 16 registers: that takes longer to compile than a loop, and no less to run; move parts from 'register' to a layer outside of it, which become loops}}
  mdh.compute (i = 512, j = 512, k = 512)
      out_view(C = %C[i, j] : memref<512x512xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<512x512xf32>, B = %B[k, j] : memref<512x512xf32>)
      schedule(#mdh.schedule<asm = cpu,
        layers = [main {i: *, j: *, k: *}, register {k: 256}, simd {j: 8}],
        decompose = {order: [main.i, main.j, main.k, register.k, simd.j]},
        outputs = {C: {combine: {main.k: register}}}>)
  mdh.compute (i = 512, j = 512, k = 512)
      out_view(C = %C[i, j] : memref<512x512xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<512x512xf32>, B = %B[k, j] : memref<512x512xf32>)
      schedule(#mdh.schedule<asm = cpu,
        layers = [main {i: *, j: *, k: *}, register {i: 4, k: 16}, simd {j: 8}],
        decompose = {order: [main.i, main.j, main.k, register.i, register.k, simd.j]},
        outputs = {C: {combine: {main.k: register}}}>)
  return
}

// -----
// Without lanes, scalars are operands.
func.func @scalars(%a: memref<512xf64>, %b: memref<512xf64>, %c: memref<f64>) {
  // expected-warning @+1 {{the computation of 'c' unrolls 32 terms of its sums (register.k: 32), whose operands take 64 vectors beside 1 of results, and the machine has 16 registers}}
  mdh.compute (k = 512)
      out_view(c = %c[] : memref<f64>)
      md_hom(mulf, (pw(addf)))
      inp_view(a = %a[k] : memref<512xf64>, b = %b[k] : memref<512xf64>)
      schedule(#mdh.schedule<asm = cpu, layers = [main {k: *}, register {k: 32}],
        decompose = {order: [main.k, register.k]}, outputs = {c: {combine: {main.k: register}}}>)
  return
}

// -----
// Sums and products of i1 are those modulo 2; what says so is meant.
func.func @parity(%x: memref<64x80xi1>, %y: memref<64xi1>) {
  // expected-warning @+1 {{the computation of 'y' combines i1 by 'addi', which is 'xori' there (1 + 1 is 0): write 'xori' if that is meant, or widen the elements in the scalar function (arith.extui %a : i1 to i32)}}
  mdh.compute (i = 64, k = 80)
      out_view(y = %y[i] : memref<64xi1>)
      md_hom(id, (cc, pw(addi)))
      inp_view(x = %x[i, k] : memref<64x80xi1>)
  // expected-warning @+1 {{the computation of 'y' combines i1 by 'muli', which is 'andi' there (1 * 1 is 1): write 'andi' if}}
  mdh.compute (i = 64, k = 80)
      out_view(y = %y[i] : memref<64xi1>)
      md_hom(id, (cc, pw(muli)))
      inp_view(x = %x[i, k] : memref<64x80xi1>)
  // A scan warns once, whatever the number of dimensions that are combined.
  // expected-warning @+1 {{the computation of 'z' combines i1 by 'addi', which is 'xori' there (1 + 1 is 0): write 'xori' if}}
  mdh.compute (i = 64, k = 80)
      out_view(z = %x[i, k] : memref<64x80xi1>)
      md_hom(id, (ps(addi), ps(addi)))
      inp_view(y = %y[i] : memref<64xi1>)
  mdh.compute (i = 64, k = 80)
      out_view(y = %y[i] : memref<64xi1>)
      md_hom(id, (cc, pw(xori)))
      inp_view(x = %x[i, k] : memref<64x80xi1>)
  mdh.compute (i = 64, k = 80)
      out_view(y = %y[i] : memref<64xi1>)
      md_hom(id, (cc, pw(ori)))
      inp_view(x = %x[i, k] : memref<64x80xi1>)
  return
}

// -----
// A condition on indices that narrows no loop: the value outside is 0, and becomes another one.
// CHECK-LABEL: func.func @masked

func.func @masked(%x: memref<64x64xf32>, %y: memref<64xf32>) {
  // expected-warning @+1 {{the computation of 'y' chooses a constant by a comparison of indices, but its loops visit all points: where it excludes a point, the result is not known to be the neutral element of addf (0.0); choose that as the last step of the scalar function}}
  mdh.compute (i = 64, k = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom((%x_ik: f32) {
        %zero = arith.constant 0.0 : f32
        %i = mdh.index 0 : index
        %k = mdh.index 1 : index
        %below = arith.cmpi sle, %k, %i : index
        %v = arith.select %below, %x_ik, %zero : f32
        %w = arith.mulf %v, %x_ik : f32
        mdh.yield %w : f32
      }, (cc, pw(addf)))
      inp_view(x = %x[i, k] : memref<64x64xf32>)
  return
}

// -----
// A condition that no loop has as its bound.
// CHECK-LABEL: func.func @halved

func.func @halved(%x: memref<64x64xf32>, %y: memref<64xf32>) {
  // expected-warning @+1 {{the computation of 'y' chooses a constant by a comparison of indices, but its loops visit all points: only comparisons of sums of indices, each times a constant, bound them; write it as such, `k <= 2 * i + 1` for `k / 2 <= i`}}
  mdh.compute (i = 64, k = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom((%x_ik: f32) {
        %zero = arith.constant 0.0 : f32
        %two = arith.constant 2 : index
        %i = mdh.index 0 : index
        %k = mdh.index 1 : index
        %half = arith.divui %k, %two : index
        %below = arith.cmpi sle, %half, %i : index
        %v = arith.select %below, %x_ik, %zero : f32
        mdh.yield %v : f32
      }, (cc, pw(addf)))
      inp_view(x = %x[i, k] : memref<64x64xf32>)
  return
}

// -----
// An operator without a neutral element.
// CHECK-LABEL: func.func @first

func.func @first(%x: memref<64x64xf32>, %y: memref<64xf32>) {
  // expected-warning @+1 {{the computation of 'y' chooses a constant by a comparison of indices, but its loops visit all points: @least has no neutral element; give it one (`neutral`), and choose that where the comparison excludes a point}}
  mdh.compute (i = 64, k = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom((%x_ik: f32) {
        %far = arith.constant 1.0e+30 : f32
        %i = mdh.index 0 : index
        %k = mdh.index 1 : index
        %below = arith.cmpi sle, %k, %i : index
        %v = arith.select %below, %x_ik, %far : f32
        mdh.yield %v : f32
      }, (cc, pw(least)))
      inp_view(x = %x[i, k] : memref<64x64xf32>)
      combine least commutative associative (%a: f32, %b: f32) {
        %m = arith.minimumf %a, %b : f32
        mdh.yield %m : f32
      }
  return
}

// -----
// What narrows loops has none, nor has what combines nothing.
// Silent: the loops leave out what is excluded.
// CHECK-LABEL: func.func @narrowed

func.func @narrowed(%x: memref<64x64xf32>, %y: memref<64xf32>, %z: memref<64x64xf32>) {
  mdh.compute (i = 64, k = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom((%x_ik: f32) {
        %zero = arith.constant 0.0 : f32
        %i = mdh.index 0 : index
        %k = mdh.index 1 : index
        %below = arith.cmpi sle, %k, %i : index
        %v = arith.select %below, %x_ik, %zero : f32
        mdh.yield %v : f32
      }, (cc, pw(addf)))
      inp_view(x = %x[i, k] : memref<64x64xf32>)
  mdh.compute (i = 64, k = 64)
      out_view(z = %z[i, k] : memref<64x64xf32>)
      md_hom((%x_ik: f32) {
        %one = arith.constant 1.0 : f32
        %i = mdh.index 0 : index
        %k = mdh.index 1 : index
        %below = arith.cmpi sle, %k, %i : index
        %v = arith.select %below, %x_ik, %one : f32
        mdh.yield %v : f32
      }, (cc, cc))
      inp_view(x = %x[i, k] : memref<64x64xf32>)
  return
}
