// Large copies become computations that cores share; others stay, and say why.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-copies="asm=cpu cores=2" --verify-diagnostics | FileCheck %s
// RUN: mdh-opt %s --split-input-file --mdh-raise-copies="asm=cpu cores=1" 2>&1 | FileCheck %s --check-prefix ONE
// RUN: not mdh-opt %s --split-input-file --mdh-raise-copies="grain=none" 2>&1 | FileCheck %s --check-prefix OPTION
// ONE: remark: stays one core's: there is no other
// ONE-NOT: mdh.compute
// OPTION: option 'grain' of mdh-raise-copies is 'none': expected a positive number

// One row of memory, whatever its axes are.
// CHECK-LABEL: func.func @whole(
// CHECK: mdh.compute (i = 1048576)
// CHECK: md_hom(id, (cc))
// CHECK: core {i: 2}
// CHECK-NOT: memref.copy
func.func @whole(%x: memref<256x4096xf32>, %y: memref<256x4096xf32>) {
  memref.copy %x, %y : memref<256x4096xf32> to memref<256x4096xf32>
  return
}

// -----

// A size that either type says; elements of any type.
// CHECK-LABEL: func.func @known(
// CHECK: mdh.compute (i = 65536)
// CHECK: simd {i: 64}
func.func @known(%x: memref<?xi1>, %y: memref<65536xi1>) {
  memref.copy %x, %y : memref<?xi1> to memref<65536xi1>
  return
}

// -----

// CHECK-LABEL: func.func @open(
// CHECK: mdh.compute (i = %{{.*}})
// CHECK: schedule
func.func @open(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32>
  return
}

// -----

// Rows with gaps between them.
// CHECK-LABEL: func.func @rows(
// CHECK: mdh.compute (i = 512, j = 100)
// CHECK: inp_view(from = %{{.*}}[i, j] : memref<512x100xf32, strided<[128, 1]>>)
func.func @rows(%x: memref<512x100xf32, strided<[128, 1]>>, %y: memref<512x100xf32>) {
  memref.copy %x, %y : memref<512x100xf32, strided<[128, 1]>> to memref<512x100xf32>
  return
}

// -----

// CHECK-LABEL: func.func @small(
// CHECK-NEXT: memref.copy
func.func @small(%x: memref<32767xf32>, %y: memref<32767xf32>) {
  // expected-remark@+1 {{stays one core's: found 32767 elements, expected 32768 or more}}
  memref.copy %x, %y : memref<32767xf32> to memref<32767xf32>
  return
}

// -----

// CHECK-LABEL: func.func @shared(
// CHECK: memref.copy
func.func @shared(%x: memref<8x65536xf32>, %y: memref<8x65536xf32>) {
  scf.forall (%i) in (8) {
    %from = memref.subview %x[%i, 0] [1, 65536] [1, 1] : memref<8x65536xf32> to memref<65536xf32, strided<[1], offset: ?>>
    %to = memref.subview %y[%i, 0] [1, 65536] [1, 1] : memref<8x65536xf32> to memref<65536xf32, strided<[1], offset: ?>>
    // expected-remark@+1 {{stays one core's: it stands in a parallel loop}}
    memref.copy %from, %to : memref<65536xf32, strided<[1], offset: ?>> to memref<65536xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// CHECK-LABEL: func.func @often(
// CHECK: memref.copy
func.func @often(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    // expected-remark@+1 {{stays one core's: it may be small, and stands in a loop}}
    memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @tuples(
// CHECK-NEXT: memref.copy
func.func @tuples(%x: memref<65536xcomplex<f32>>, %y: memref<65536xcomplex<f32>>) {
  // expected-remark@+1 {{stays one core's: expected memrefs of scalars, with an axis or more}}
  memref.copy %x, %y : memref<65536xcomplex<f32>> to memref<65536xcomplex<f32>>
  return
}

// Refuses nothing: every copy stays one, or becomes a computation.
