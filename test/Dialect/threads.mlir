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
  // expected-error @+1 {{combines what threads of the level 'thread' have: expected a layer and its axis, such as thread.x}}
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
