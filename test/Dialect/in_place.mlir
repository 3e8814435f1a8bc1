// That a computation reads each element before it replaces it is proved of all of its points. A tile has only some of
// them, and bounds that show less: it says so itself.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics | mdh-opt --split-input-file | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | mdh-opt --split-input-file | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --canonicalize | FileCheck %s --check-prefix SIMPLER
//
// RUN: not mdh-opt %s --split-input-file --mdh-to-triple 2>&1 | FileCheck %s --check-prefix TRIPLE
// TRIPLE: in_place.mlir:[[# @LINE + 7]]:3: error: 'mdh.compute' op says that it runs in place, for which a triple has no words: expected a computation before mdh-tile

// CHECK-LABEL: func.func @tile
// SIMPLER-LABEL: func.func @tile
func.func @tile(%x: memref<16x1xf32>, %from: index, %to: index) {
  // CHECK: inp_view(x = %{{.*}}[i + 8, j] : memref<16x1xf32>)
  // CHECK-NEXT: in_place {tag}
  mdh.compute (i = %from to %to, j = 1)
    out_view(y = %x[i, j] : memref<16x1xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i + 8, j] : memref<16x1xf32>)
    in_place {tag}
  return
}
// A rewrite of the tile keeps it.
// SIMPLER: mdh.compute (i = %
// SIMPLER-NEXT: out_view(
// SIMPLER-NEXT: md_hom(
// SIMPLER-NEXT: inp_view(
// SIMPLER-NEXT: in_place {tag}

// It stands before a schedule, and what threads do.
//
// CHECK-LABEL: func.func @others
// CHECK:      in_place
// CHECK-NEXT: schedule(
// CHECK:      threads(cooperative)
// SIMPLER-LABEL: func.func @others
func.func @others(%x: memref<16xf32>, %from: index, %to: index) {
  mdh.compute (i = %from to %to)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 8] : memref<16xf32>)
    in_place
    schedule(#mdh.schedule<layers = [L1 {i: 4}]>)
    threads(cooperative)
  return
}

// -----

func.func @not_proved(%x: memref<16xf32>, %from: index, %to: index) {
  // expected-error @+1 {{writes output 'y' where it reads input 'x' (element [-17] is read at (i = -25) and written at (i = -17))}}
  mdh.compute (i = %from to %to)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 8] : memref<16xf32>)
  return
}

// -----

func.func @other_memory(%x: memref<16xf32>, %y: memref<16xf32>) {
  // expected-error @+1 {{is 'in_place', but no input is an output too: expected memory that it reads and writes, or no 'in_place'}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 8] : memref<16xf32>)
    in_place
  return
}

// -----

// The word has a place of its own: what threads do is not part of it.
func.func @misplaced(%x: memref<16xf32>) {
  mdh.compute (i = 8)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<16xf32>)
    // expected-error @+1 {{expected one of cooperative, asynchronous, matrix, lanes}}
    threads(in_place)
  return
}

// -----

// A discardable attribute, which a rewrite would drop, is none.
func.func @discardable(%x: memref<16xf32>) {
  // expected-error @+1 {{'mdh.compute' op carries the attribute 'mdh.in_place', which the dialect does not have}}
  mdh.compute (i = 8)
    out_view(y = %x[i] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<16xf32>) {mdh.in_place}
  return
}
