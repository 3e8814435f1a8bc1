// A slice that drops an axis in which it takes a step: upstream's expansion does not find out which one.
//
// RUN: mdh-opt %s --mdh-plain-subviews | FileCheck %s
// RUN: mdh run %s --entry at --in i=3 --random 1 --check=all | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry rows --in n=5 --size j=5 --random 1 --check=all | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry taken --random 1 --check=all | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry taken --random 1 --check=all --no-raise | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry put --random 1 --check=all | FileCheck %s --check-prefix PASSED
// PASSED: check passed
//
// Refuses nothing: any other slice is expanded by upstream as it is.

// CHECK-LABEL: func.func @at(
// CHECK:       %[[ROW:.*]] = arith.muli %{{.*}}, %c4
// CHECK:       memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [1], strides: [8]
func.func @at(%x: memref<4x4xf32>, %i: index, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[%i, 2] [1, 1] [2, 1] : memref<4x4xf32> to memref<1xf32, strided<[8], offset: ?>>
  %v = memref.load %s[%c0] : memref<1xf32, strided<[8], offset: ?>>
  memref.store %v, %y[%c0] : memref<1xf32>
  return
}

// CHECK-LABEL: func.func @rows(
// CHECK:       memref.reinterpret_cast %{{.*}} to offset: [35], sizes: [1, %{{.*}}], strides: [60, 1]
func.func @rows(%x: memref<4x6x10xf32>, %n: index, %y: memref<1x?xf32>) {
  %t = memref.subview %x[0, 3, 5] [1, 1, %n] [1, 3, 1] : memref<4x6x10xf32> to memref<1x?xf32, strided<[60, 1], offset: 35>>
  linalg.exp ins(%t : memref<1x?xf32, strided<[60, 1], offset: 35>>) outs(%y : memref<1x?xf32>)
  return
}

func.func @taken(%x: tensor<4x4xf32>) -> tensor<1xf32> {
  %s = tensor.extract_slice %x[1, 0] [1, 1] [2, 1] : tensor<4x4xf32> to tensor<1xf32>
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.exp ins(%s : tensor<1xf32>) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}

func.func @put(%x: tensor<1xi32>, %y: tensor<4x2x4xi32>) -> tensor<4x2x4xi32> {
  %s = tensor.insert_slice %x into %y[1, 0, 3] [1, 1, 1] [2, 1, 2] : tensor<1xi32> into tensor<4x2x4xi32>
  return %s : tensor<4x2x4xi32>
}

// Silent: nothing is dropped, or no step is taken in what is; and where the strides of the memory are not known, no
// cast has numbers for them.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: memref.subview
// CHECK-NOT:   memref.reinterpret_cast
func.func @others(%x: memref<4x4xf32>, %z: memref<4x4xf32, strided<[?, 1], offset: ?>>) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[1, 0] [1, 1] [2, 1] : memref<4x4xf32> to memref<1x1xf32, strided<[8, 1], offset: 4>>
  %a = memref.load %s[%c0, %c0] : memref<1x1xf32, strided<[8, 1], offset: 4>>
  %t = memref.subview %x[1, 0] [1, 2] [1, 2] : memref<4x4xf32> to memref<2xf32, strided<[2], offset: 4>>
  %b = memref.load %t[%c0] : memref<2xf32, strided<[2], offset: 4>>
  %u = memref.subview %z[1, 0] [1, 1] [2, 1] : memref<4x4xf32, strided<[?, 1], offset: ?>> to memref<1xf32, strided<[?], offset: ?>>
  %c = memref.load %u[%c0] : memref<1xf32, strided<[?], offset: ?>>
  return %a, %b, %c : f32, f32, f32
}

// A reshape to a given extent beside one of 0: upstream's expansion divides by that. Beside others it stays.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    %[[X:.*]]: memref<{{.*}}>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:       %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK:       %[[ROW:.*]] = arith.muli %c2{{.*}}, %[[M]]
// CHECK:       memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [%[[N]], 0, %[[M]]], strides: [0, %[[ROW]], 2]
// CHECK:       memref.expand_shape
func.func @nothing(%x: memref<?xi32, strided<[2], offset: ?>>, %n: index, %m: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %e = memref.expand_shape %x [[0, 1, 2]] output_shape [%n, 0, %m] : memref<?xi32, strided<[2], offset: ?>> into memref<?x0x?xi32, strided<[0, ?, 2], offset: ?>>
  %d = memref.dim %e, %c2 : memref<?x0x?xi32, strided<[0, ?, 2], offset: ?>>
  %f = memref.expand_shape %x [[0, 1]] output_shape [%n, 2] : memref<?xi32, strided<[2], offset: ?>> into memref<?x2xi32, strided<[4, 2], offset: ?>>
  %g = memref.dim %f, %c0 : memref<?x2xi32, strided<[4, 2], offset: ?>>
  return %d, %g : index, index
}

// Of several extents that are given upstream's expansion ends the process. Strides are those of the memory, times the
// extents behind an axis.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    %[[X:.*]]: memref<{{.*}}>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:       %[[ROW:.*]] = arith.muli %[[M]], %c4
// CHECK:       memref.reinterpret_cast %[[X]] to offset: [0], sizes: [6, %[[N]], 4, %[[M]]], strides: [%[[OUTER:.*]], %[[ROW]], %[[M]], 1]
func.func @given(%x: memref<6x?xi32>, %n: index, %m: index) -> memref<6x?x4x?xi32> {
  %e = memref.expand_shape %x [[0], [1, 2, 3]] output_shape [6, %n, 4, %m] : memref<6x?xi32> into memref<6x?x4x?xi32>
  return %e : memref<6x?x4x?xi32>
}

// CHECK-LABEL: func.func @of_strided(
// CHECK-SAME:    %[[X:.*]]: memref<{{.*}}>, %[[N:.*]]: index, %[[M:.*]]: index
// CHECK:       %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %[[STEP:.*]] = memref.extract_strided_metadata %[[X]]
// CHECK:       %[[ROW:.*]] = arith.muli %[[STEP]], %[[M]]
// CHECK:       memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [%[[N]], %[[M]]], strides: [%[[ROW]], %[[STEP]]]
func.func @of_strided(%x: memref<?xi32, strided<[?], offset: ?>>, %n: index, %m: index) -> memref<?x?xi32, strided<[?, ?], offset: ?>> {
  %e = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xi32, strided<[?], offset: ?>> into memref<?x?xi32, strided<[?, ?], offset: ?>>
  return %e : memref<?x?xi32, strided<[?, ?], offset: ?>>
}
