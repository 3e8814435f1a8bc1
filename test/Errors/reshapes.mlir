// Extents of a reshape that contradict its type are refused at the operation, before anything else is done: as
// operands, upstream would take them for those of other axes.
//
// RUN: mdh-opt %s --mdh-form --verify-diagnostics
// RUN: mdh-opt %s --mdh-raise --verify-diagnostics
// RUN: not mdh run %s --entry twice --check=all 2>&1 | FileCheck %s --check-prefix REFUSED
// RUN: not mdh run %s --entry behind --check=all 2>&1 | FileCheck %s --check-prefix REFUSED
// RUN: not mdh run %s --entry behind --no-raise 2>&1 | FileCheck %s --check-prefix REFUSED
// RUN: not mdh run %s --entry split 2>&1 | FileCheck %s --check-prefix SPLIT
// RUN: not mdh compile %s --entry memory --emit obj -o %t.o 2>&1 | FileCheck %s --check-prefix SPLIT
// RUN: not mdh run %s --entry shaped 2>&1 | FileCheck %s --check-prefix SHAPED
// RUN: mdh run %s --entry right --check=all --random 0 | FileCheck %s --check-prefix RIGHT
//
// REFUSED: reshapes.mlir:{{[0-9]+}}:8: error: 'tensor.expand_shape' op has an operand for the extent of axis 0, which its type {{.*}} has as 1: expected 1 in its place in 'output_shape', and operands for each '?' of the type only
// SPLIT: :8: error: '{{tensor|memref}}.expand_shape' op splits axis 0, of 4 elements, into extents whose product is 6: expected as many elements as there are
// SHAPED: :8: error: 'tensor.reshape' op takes 3 for the extent of axis 0, which its type {{.*}} has as 2: expected 2
// RIGHT: check {{ *}}passed: 3 of 3 elements compared

func.func @twice(%x: tensor<4x8xf32>) -> (index, index, index) {
  %d = tensor.cast %x : tensor<4x8xf32> to tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  // expected-error @+1 {{'tensor.expand_shape' op has an operand for the extent of axis 0, which its type tensor<1x?x?xf32> has as 1}}
  %e = tensor.expand_shape %d [[0, 1], [2]] output_shape [%c1, %c4, %c8] : tensor<?x?xf32> into tensor<1x?x?xf32>
  %d0 = tensor.dim %e, %c0 : tensor<1x?x?xf32>
  %d1 = tensor.dim %e, %c1 : tensor<1x?x?xf32>
  %d2 = tensor.dim %e, %c2 : tensor<1x?x?xf32>
  return %d0, %d1, %d2 : index, index, index
}

func.func @right(%x: tensor<4x8xf32>) -> (index, index, index) {
  %d = tensor.cast %x : tensor<4x8xf32> to tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %e = tensor.expand_shape %d [[0, 1], [2]] output_shape [1, %c4, %c8] : tensor<?x?xf32> into tensor<1x?x?xf32>
  %d0 = tensor.dim %e, %c0 : tensor<1x?x?xf32>
  %d1 = tensor.dim %e, %c1 : tensor<1x?x?xf32>
  %d2 = tensor.dim %e, %c2 : tensor<1x?x?xf32>
  return %d0, %d1, %d2 : index, index, index
}

func.func @behind(%x: tensor<?xf32>) -> tensor<1x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  // expected-error @+1 {{'tensor.expand_shape' op has an operand for the extent of axis 0}}
  %e = tensor.expand_shape %x [[0, 1]] output_shape [%c1, %n] : tensor<?xf32> into tensor<1x?xf32>
  %z = tensor.empty(%n) : tensor<1x?xf32>
  %r = linalg.exp ins(%e : tensor<1x?xf32>) outs(%z : tensor<1x?xf32>) -> tensor<1x?xf32>
  return %r : tensor<1x?xf32>
}

func.func @memory(%x: memref<4xf32>, %y: memref<?x?xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d = memref.cast %x : memref<4xf32> to memref<?xf32>
  // expected-error @+1 {{'memref.expand_shape' op splits axis 0, of 4 elements, into extents whose product is 6}}
  %e = memref.expand_shape %d [[0, 1]] output_shape [%c2, %c3] : memref<?xf32> into memref<?x?xf32>
  linalg.copy ins(%e : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

func.func @split(%x: tensor<4xf32>) -> tensor<?x?xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  // expected-error @+1 {{'tensor.expand_shape' op splits axis 0, of 4 elements, into extents whose product is 6}}
  %e = tensor.expand_shape %d [[0, 1]] output_shape [%c2, %c3] : tensor<?xf32> into tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}

func.func @shaped(%x: tensor<6xf32>) -> tensor<2x?xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = tensor.from_elements %c3, %c2 : tensor<2xindex>
  // expected-error @+1 {{'tensor.reshape' op takes 3 for the extent of axis 0}}
  %e = tensor.reshape %x(%s) : (tensor<6xf32>, tensor<2xindex>) -> tensor<2x?xf32>
  return %e : tensor<2x?xf32>
}
