// Axes that are split into several extents that are given: they are as many elements as there are.
//
// RUN: mdh run %s --check=all --entry tensor --in n=2 m=3 --random 1 | FileCheck %s --check-prefix TENSOR
// RUN: mdh run %s --check=all --entry tensor --in n=2 m=3 --random 1 --no-raise | FileCheck %s --check-prefix TENSOR
// RUN: mdh run %s --check=all --entry tensor --in n=2 m=3 --random 1 --device sim | FileCheck %s --check-prefix TENSOR
// TENSOR: in {{ *}}x {{ *}}6xf32
// TENSOR: check {{ *}}passed
// RUN: mdh run %s --check=all --entry memory --in n=2 m=3 --random 1 --size i=2 j=3 | FileCheck %s --check-prefix MEMORY
// RUN: mdh run %s --check=all --entry memory --in n=2 m=3 --random 1 --size i=2 j=3 --no-raise | FileCheck %s --check-prefix MEMORY
// MEMORY: in {{ *}}x {{ *}}6xi32
// MEMORY: check {{ *}}passed
// RUN: mdh run %s --check=all --entry between --in n=2 m=3 --random 1 | FileCheck %s --check-prefix BETWEEN
// RUN: mdh run %s --check=all --entry between --in n=2 m=3 --random 1 --no-raise | FileCheck %s --check-prefix BETWEEN
// BETWEEN: in {{ *}}x {{ *}}5x24xi32
// BETWEEN: check {{ *}}passed
// Where the axis is strided, so are those that it is split into.
// RUN: mdh run %s --check=all --entry column --in j=1 n=2 m=3 --random 1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry column --in j=1 n=2 m=3 --random 1 --no-raise | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry last --in n=2 m=3 --random 1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry last --in n=2 m=3 --random 1 --no-raise | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry last_of --in n=2 m=3 --random 1 | FileCheck %s --check-prefix PASSED
// PASSED: check {{ *}}passed
//
// Any other product would be behind the memory, or leave elements out.
// RUN: not mdh run %s --entry last --in n=2 m=4 --random 1 2>&1 | FileCheck %s --check-prefix PRODUCT
// RUN: not mdh run %s --entry last --in n=2 m=2 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix PRODUCT
// RUN: not mdh run %s --entry last --in n=0 m=3 --random 1 2>&1 | FileCheck %s --check-prefix PRODUCT
// RUN: not mdh run %s --entry last --in n=4 m=4611686018427387905 --random 1 2>&1 | FileCheck %s --check-prefix PRODUCT
// PRODUCT: reshaped-given.mlir:[[#]]:8: error: 'memref.expand_shape' op splits axis 0 into extents whose product is not that of the axis: expected as many elements as there are
// RUN: not mdh run %s --entry last_of --in n=2 m=4 --random 1 2>&1 | FileCheck %s --check-prefix TENSORS
// RUN: not mdh run %s --entry last_of --in n=2 m=4 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix TENSORS
// TENSORS: error: 'tensor.expand_shape' op splits axis 0 into extents whose product is not that of the axis
// RUN: not mdh run %s --entry last --in n=-2 m=-3 --random 1 2>&1 | FileCheck %s --check-prefix NEGATIVE
// NEGATIVE: error: 'memref.expand_shape' op splits axis 0 into a negative number of parts: expected extents of at least 0
// One extent, too, which upstream takes from the memory.
// RUN: not mdh run %s --entry rows --in n=3 --random 1 2>&1 | FileCheck %s --check-prefix PRODUCT
// So does the definition.
// RUN: not mdh run %s --check=all --entry last --in n=2 m=4 --random 1 2>&1 | FileCheck %s --check-prefix DEFINED
// DEFINED: error: 'memref.expand_shape' op sees a tensor of shape [6] under the shape [2, 4]: expected one of as many elements
// RUN: not mdh run %s --check=all --entry groups --in n=3 m=2 k=4 --random 1 2>&1 | FileCheck %s --check-prefix GROUPS
// GROUPS: error: 'tensor.expand_shape' op sees a tensor of shape [4, 6] under the shape [3, 2, 4]: expected each group of axes to have as many elements as the axis that it splits
// RUN: not mdh run %s --entry groups --in n=3 m=2 k=4 --random 1 2>&1 | FileCheck %s --check-prefix TENSORS

func.func @tensor(%x: tensor<?xf32>, %n: index, %m : index) -> tensor<?x?xf32> {
  %e = tensor.expand_shape %x [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  %z = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = linalg.exp ins(%e : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @memory(%x: memref<?xi32>, %n: index, %m : index, %y: memref<?x?xi32>) {
  %e = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xi32> into memref<?x?xi32>
  linalg.copy ins(%e : memref<?x?xi32>) outs(%y : memref<?x?xi32>)
  return
}

func.func @between(%x: tensor<5x?xi32>, %n: index, %m : index) -> tensor<5x?x4x?xi32> {
  %e = tensor.expand_shape %x [[0], [1, 2, 3]] output_shape [5, %n, 4, %m] : tensor<5x?xi32> into tensor<5x?x4x?xi32>
  %z = tensor.empty(%n, %m) : tensor<5x?x4x?xi32>
  %r = linalg.copy ins(%e : tensor<5x?x4x?xi32>) outs(%z : tensor<5x?x4x?xi32>) -> tensor<5x?x4x?xi32>
  return %r : tensor<5x?x4x?xi32>
}

func.func @column(%x: memref<6x4xi32>, %j: index, %n: index, %m : index, %y: memref<2x3xi32>) {
  %s = memref.subview %x[0, %j] [6, 1] [1, 1] : memref<6x4xi32> to memref<6xi32, strided<[4], offset: ?>>
  %c = memref.cast %s : memref<6xi32, strided<[4], offset: ?>> to memref<?xi32, strided<[?], offset: ?>>
  %e = memref.expand_shape %c [[0, 1]] output_shape [%n, %m] : memref<?xi32, strided<[?], offset: ?>> into memref<?x?xi32, strided<[?, ?], offset: ?>>
  %f = memref.cast %e : memref<?x?xi32, strided<[?, ?], offset: ?>> to memref<2x3xi32, strided<[?, ?], offset: ?>>
  linalg.copy ins(%f : memref<2x3xi32, strided<[?, ?], offset: ?>>) outs(%y : memref<2x3xi32>)
  return
}

func.func @last(%x: memref<6xi32>, %n: index, %m : index, %y: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = memref.cast %x : memref<6xi32> to memref<?xi32>
  %e = memref.expand_shape %c [[0, 1]] output_shape [%n, %m] : memref<?xi32> into memref<?x?xi32>
  %i = arith.subi %n, %c1 : index
  %j = arith.subi %m, %c1 : index
  %v = memref.load %e[%i, %j] : memref<?x?xi32>
  memref.store %v, %y[%c0] : memref<1xi32>
  return
}

func.func @last_of(%x: tensor<6xi32>, %n: index, %m : index, %y: tensor<1xi32>) -> tensor<1xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = tensor.cast %x : tensor<6xi32> to tensor<?xi32>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [%n, %m] : tensor<?xi32> into tensor<?x?xi32>
  %i = arith.subi %n, %c1 : index
  %j = arith.subi %m, %c1 : index
  %v = tensor.extract %e[%i, %j] : tensor<?x?xi32>
  %r = tensor.insert %v into %y[%c0] : tensor<1xi32>
  return %r : tensor<1xi32>
}

func.func @rows(%x: memref<16xi32>, %n: index, %y: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %c = memref.cast %x : memref<16xi32> to memref<?xi32>
  %e = memref.expand_shape %c [[0, 1]] output_shape [%n, 8] : memref<?xi32> into memref<?x8xi32>
  %v = memref.dim %e, %c0 : memref<?x8xi32>
  memref.store %v, %y[%c0] : memref<1xindex>
  return
}

func.func @groups(%x: tensor<4x6xi32>, %n: index, %m : index, %k: index, %y: tensor<1xi32>) -> tensor<1xi32> {
  %c0 = arith.constant 0 : index
  %c = tensor.cast %x : tensor<4x6xi32> to tensor<?x?xi32>
  %e = tensor.expand_shape %c [[0, 1], [2]] output_shape [%n, %m, %k] : tensor<?x?xi32> into tensor<?x?x?xi32>
  %v = tensor.extract %e[%c0, %c0, %c0] : tensor<?x?x?xi32>
  %r = tensor.insert %v into %y[%c0] : tensor<1xi32>
  return %r : tensor<1xi32>
}
