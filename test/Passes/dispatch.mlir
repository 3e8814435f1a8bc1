// Functions call their version for the sizes that they are given.
//
// RUN: mdh-opt %s --split-input-file --mdh-dispatch --verify-diagnostics | FileCheck %s
//
// At these sizes the version runs, whatever it computes, and at all others the function itself.
//
// RUN: split-file %s %t
// RUN: %python -c "import numpy as np; [np.save('%t/%%d.npy' %% n, np.ones(n, 'f')) for n in (7, 8)]"
// RUN: mdh run %t/which.mlir --entry which --in %t/8.npy --out %t/r8.npy && mdh run %t/which.mlir --entry which --in %t/7.npy --out %t/r7.npy
// RUN: %python -c "import numpy as np; print(*[float(np.load('%t/r%%d.npy' %% n)) for n in (7, 8)])" | FileCheck %s --check-prefix RUNS
// RUNS: 1.0 2.0

//--- which.mlir
// CHECK-LABEL: func.func private @which_8(%{{.*}}: memref<8xf32>) -> f32 {
func.func private @which_8(%x: memref<8xf32>) -> f32 attributes {mdh.sizes = "8"} {
  %r = arith.constant 2.0 : f32
  return %r : f32
}
// CHECK-LABEL: func.func @which(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>) -> f32 {
// CHECK:         %[[N:.*]] = memref.dim %[[X]]
// CHECK:         %[[IS:.*]] = arith.cmpi eq, %[[N]], %c8
// CHECK:         %[[R:.*]] = scf.if %[[IS]] -> (f32) {
// CHECK:           %[[CAST:.*]] = memref.cast %[[X]] : memref<?xf32> to memref<8xf32>
// CHECK:           func.call @which_8(%[[CAST]])
// CHECK:         } else {
// CHECK:           func.call @which_any_1(%[[X]])
// CHECK:         return %[[R]]
// CHECK-LABEL: func.func private @which_any_1(
func.func @which(%x: memref<?xf32>) -> f32 attributes {mdh.versions = [@which_8]} {
  %r = arith.constant 1.0 : f32
  return %r : f32
}
func.func private @which_any()

//--- others.mlir
// -----

// A number that decides, of a type of its own; what other functions call is the one that picks.
// CHECK-LABEL: func.func private @number_any(
// CHECK:       func.func @user(
// CHECK:         call @number(
func.func private @number_3(%n: i64) attributes {mdh.sizes = "3"} {
  return
}
func.func private @number(%n: i64) attributes {mdh.versions = [@number_3]} {
  return
}
func.func @user(%n: i64) {
  call @number(%n) : (i64) -> ()
  return
}

// -----

// Silent: it has no versions.
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT:    return
func.func @plain(%x: memref<?xf32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has 1 version, of which 0 are there, with their sizes: expected functions with 'mdh.sizes'; run mdh-specialize}}
func.func @wanted(%x: memref<?xf32>) attributes {mdh.versions = ["8"]} {
  return
}

// -----

func.func private @other_8(%x: memref<8xf64>) attributes {mdh.sizes = "8"} {
  return
}
// expected-error @+1 {{'func.func' op cannot call 'other_8' as its version: expected arguments that are the same but for sizes, and the same results, on memrefs}}
func.func @other(%x: memref<?xf32>) attributes {mdh.versions = [@other_8]} {
  return
}

// -----

// expected-error @+1 {{names itself as its version: expected another function than 'itself'}}
func.func @itself(%n: i64) attributes {mdh.versions = [@itself], mdh.sizes = "3"} {
  return
}
