// What threads of a GPU do of a computation is a part of the operation. It names dimensions, and
// rewrites keep it right.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics | mdh-opt --split-input-file | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | mdh-opt --split-input-file | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix SIMPLER
//
// RUN: not mdh-opt %s --split-input-file --mdh-to-triple 2>&1 | FileCheck %s --check-prefix TRIPLE
// TRIPLE: threads.mlir:[[# @LINE + 6]]:3: error: 'mdh.compute' op says what threads do of it, for which a triple has no words: expected a computation before mdh-tile

// CHECK-LABEL: func.func @copy
func.func @copy(%x: memref<8x1xf32>, %y: memref<8x1xf32>) {
  // CHECK: inp_view(x = %{{.*}}[i, j] : memref<8x1xf32>)
  // CHECK-NEXT: threads(cooperative, asynchronous) {tag}
  mdh.compute (i = 8, j = 1)
    out_view(y = %y[i, j] : memref<8x1xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x1xf32>)
    threads(asynchronous, cooperative) {tag}
  return
}
// A dimension that nobody names may go.
// SIMPLER-LABEL: func.func @copy
// SIMPLER: mdh.compute (i = 8)
// SIMPLER: threads(cooperative, asynchronous) {tag}

// Also one of one point is needed if threads have it: without 'one' the rows would be another one.
//
// CHECK-LABEL: func.func @matrix
// CHECK: mdh.compute (one = 1, i = 1, j = 8, k = 16)
// CHECK: threads(matrix(i, j))
// SIMPLER-LABEL: func.func @matrix
// SIMPLER: mdh.compute (i = 1, j = 8, k = 16)
// SIMPLER: threads(matrix(i, j))
func.func @matrix(%a: memref<1x1x16xf32>, %b: memref<16x8xf32>, %c: memref<1x1x8xf32>) {
  mdh.compute (one = 1, i = 1, j = 8, k = 16)
    out_view(c = %c[one, i, j] : memref<1x1x8xf32>)
    md_hom(mulf, (cc, cc, cc, pw(addf)))
    inp_view(a = %a[one, i, k] : memref<1x1x16xf32>, b = %b[k, j] : memref<16x8xf32>)
    threads(matrix(i, j))
  return
}

// CHECK-LABEL: func.func @lanes
// CHECK: threads(lanes(part = thread.x))
// SIMPLER-LABEL: func.func @lanes
// SIMPLER: mdh.compute (part = 1, i = 8)
// SIMPLER: threads(lanes(part = thread.x))
func.func @lanes(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (part = 1, i = 8, one = 1)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (pw(addf), cc, cc))
    inp_view(x = %x[i] : memref<8xf32>)
    threads(lanes(part = thread.x))
  return
}

// -----

func.func @no_dimension(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+2 {{is shared out to threads by the dimension 'k', which it has not: expected one of i}}
  // expected-error @+1 {{has 'k' as the rows and the columns of a matrix: expected two dimensions}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    threads(matrix(k, k))
  return
}

// -----

func.func @no_level(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{combines what threads of the level 'thread' have: expected 'thread' and its axis, such as thread.x}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    threads(lanes(i = thread))
  return
}

// -----

func.func @no_share(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    // expected-error @+1 {{expected one of cooperative, asynchronous, matrix, lanes}}
    threads(alone)
  return
}

// -----

func.func @twice(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    // expected-error @+1 {{found 'cooperative' twice, expected it once}}
    threads(cooperative, cooperative)
  return
}

// -----

func.func @no_layer(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{combines what threads of the level 'moon.x' have: expected 'thread' and its axis, such as thread.x}}
  mdh.compute (part = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[0] : memref<8xf32>)
    threads(lanes(part = moon.x))
  return
}

// -----

func.func @warps(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{combines what threads of the level 'warp.x' have: expected 'thread' and its axis, such as thread.x}}
  mdh.compute (part = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[0] : memref<8xf32>)
    threads(lanes(part = warp.x))
  return
}

// -----

func.func @kept(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+2 {{has threads as the points of 'part', in which it combines by cc: expected pw, of what each of them has}}
  // expected-error @+1 {{has threads as the points of 'part', but reads input 'x' along it: expected memory of each thread, which all of them read alike}}
  mdh.compute (part = 8)
    out_view(y = %y[part] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[part] : memref<8xf32>)
    threads(lanes(part = thread.x))
  return
}

// -----

func.func @terms(%a: memref<8x16xf16>, %b: memref<16x8xf16>, %c: memref<8x8xf32>) {
  // expected-error @+1 {{has 'k' as the columns of a matrix, but combines by pw in it: expected a dimension that is kept (cc)}}
  mdh.compute (i = 8, j = 8, k = 16)
    out_view(c = %c[i, j] : memref<8x8xf32>)
    md_hom((%p: f16, %q: f16) {
      %x = arith.extf %p : f16 to f32
      %y = arith.extf %q : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(a = %a[i, k] : memref<8x16xf16>, b = %b[k, j] : memref<16x8xf16>)
    threads(matrix(i, k))
  return
}

// -----

func.func @no_product(%a: memref<8x16xf32>, %b: memref<16x8xf32>, %c: memref<8x8xf32>) {
  // expected-error @+2 {{is a product of matrices, but combines by pw of something else than addf in the dimension 'k': expected pw(addf)}}
  // expected-error @+1 {{is a product of matrices, but its function is none of two elements: expected arith.mulf of two that are read, or of an arith.extf of each}}
  mdh.compute (i = 8, j = 8, k = 16)
    out_view(c = %c[i, j] : memref<8x8xf32>)
    md_hom(addf, (cc, cc, pw(maximumf)))
    inp_view(a = %a[i, k] : memref<8x16xf32>, b = %b[k, j] : memref<16x8xf32>)
    threads(matrix(i, j))
  return
}

// -----

func.func @batch(%a: memref<4x8x16xf32>, %b: memref<4x16x8xf32>, %c: memref<4x8x8xf32>) {
  // expected-error @+1 {{has 'b' and 'j' as the rows and columns of a matrix: expected one input that is read along the first of them only, and another along the second only}}
  mdh.compute (b = 4, i = 8, j = 8, k = 16)
    out_view(c = %c[b, i, j] : memref<4x8x8xf32>)
    md_hom(mulf, (cc, cc, cc, pw(addf)))
    inp_view(a = %a[b, i, k] : memref<4x8x16xf32>, b_ = %b[b, k, j] : memref<4x16x8xf32>)
    threads(matrix(b, j))
  return
}

// -----

// The instruction of the schedule is about other dimensions.
func.func @fragment(%A: memref<4x8x16xf16>, %B: memref<16x8xf16>, %C: memref<4x8x8xf32>) {
  // expected-error @+1 {{has 'h' as the rows or columns of a matrix, of which 'mma' in its schedule has no parts: expected two of i, j, k}}
  mdh.compute (h = 4, i = 8, j = 8, k = 16)
    out_view(C = %C[h, i, j] : memref<4x8x8xf32>)
    md_hom((%p: f16, %q: f16) {
      %x = arith.extf %p : f16 to f32
      %y = arith.extf %q : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, cc, pw(addf)))
    inp_view(A = %A[h, i, k] : memref<4x8x16xf16>, B = %B[k, j] : memref<16x8xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {h: *, i: *, j: *, k: *}, mma {i: 2, j: 2, k: 16}]>)
    threads(matrix(h, j))
  return
}

// -----

func.func @asynchronous_product(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{is 'asynchronous', but computes what it stores: expected a copy, md_hom(id, (cc, ..)) of one input to one output, or no 'asynchronous'}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(mulf, (cc))
    inp_view(x = %x[i][7 - i] : memref<8xf32>)
    threads(asynchronous)
  return
}

// -----

func.func @asynchronous_sum(%x: memref<8xf32>, %y: memref<f32>) {
  // expected-error @+1 {{is 'asynchronous', but combines by pw in the dimension 'i': expected a copy, md_hom(id, (cc, ..)) of one input to one output, or no 'asynchronous'}}
  mdh.compute (i = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<8xf32>)
    threads(asynchronous)
  return
}

// -----

func.func @two_copies(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  // expected-error @+1 {{is 'asynchronous', but moves 2 elements of a point: expected a copy, md_hom(id, (cc, ..)) of one input to one output, or no 'asynchronous'}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>, z = %z[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i][7 - i] : memref<8xf32>)
    threads(asynchronous)
  return
}
