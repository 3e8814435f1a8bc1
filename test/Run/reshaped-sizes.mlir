// Sizes of arguments that are seen under another shape first: they follow from --size, and from each other.
//
// RUN: mdh run %s --check=all --entry collapse --size i=8 --random 1 | FileCheck %s --check-prefixes COLLAPSE,CHECK
// COLLAPSE: in {{ *}}x {{ *}}2x4xi32
// COLLAPSE: out {{.*}} 8xi32
// RUN: not mdh run %s --entry collapse --size i=9 --random 1 2>&1 | FileCheck %s --check-prefix UNEVEN
// UNEVEN: error: --size i=9 does not agree with 12
// An assumed size is the next one that can be.
// RUN: mdh run %s --check=all --entry collapse --random 1 | FileCheck %s --check-prefixes ASSUMED,CHECK
// ASSUMED: in {{ *}}x {{ *}}10x4xi32
// RUN: mdh run %s --check=all --entry expand --size i=8 --random 1 | FileCheck %s --check-prefixes EXPAND,CHECK
// EXPAND: in {{ *}}x {{ *}}32xi32
// RUN: mdh run %s --check=all --entry given --size i=8 --random 1 | FileCheck %s --check-prefixes GIVEN,CHECK
// GIVEN: in {{ *}}x {{ *}}32xi32
// GIVEN: out {{.*}} 8xi32
// Of several that are joined, all but the first are 1: nothing says them.
// RUN: mdh run %s --check=all --entry both --size i=8 --random 1 | FileCheck %s --check-prefixes BOTH,CHECK
// BOTH: in {{ *}}x {{ *}}8x1xi32
// RUN: mdh run %s --check=all --entry memory --size i=8 --random 1 | FileCheck %s --check-prefixes MEMORY,CHECK
// MEMORY: in {{ *}}x {{ *}}2x4xi32
// RUN: mdh run %s --check=all --entry written --size i=8 --random 1 | FileCheck %s --check-prefixes WRITTEN,CHECK
// WRITTEN: out {{ *}}y {{ *}}2x4xi32
// RUN: mdh run %s --check=all --entry grouped --size i=8 j=5 --random 1 | FileCheck %s --check-prefixes GROUPED,CHECK
// GROUPED: in {{ *}}x {{ *}}8x2x3xi32
// The shape of a result follows too.
// RUN: mdh run %s --entry made --size i=8 --random 1 | FileCheck %s --check-prefix MADE
// MADE: out {{.*}} 8xi32
// CHECK: check {{ *}}passed

func.func @collapse(%x: tensor<?x4xi32>, %e: tensor<?xi32>) -> tensor<?xi32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xi32> into tensor<?xi32>
  %r = linalg.add ins(%c, %c : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

func.func @expand(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0 : i32
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %rows = arith.divsi %n, %c4 : index
  %m = tensor.expand_shape %x [[0, 1]] output_shape [%rows, 4] : tensor<?xi32> into tensor<?x4xi32>
  %e = tensor.empty(%rows) : tensor<?xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %r = linalg.reduce { arith.addi } ins(%m : tensor<?x4xi32>) outs(%f : tensor<?xi32>) dimensions = [1]
  return %r : tensor<?xi32>
}

func.func @both(%x: tensor<?x?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xi32> into tensor<?xi32>
  %r = linalg.add ins(%c, %y : tensor<?xi32>, tensor<?xi32>) outs(%y : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}

func.func @memory(%x: memref<?x4xi32>, %y: memref<?xi32>) {
  %c = memref.collapse_shape %x [[0, 1]] : memref<?x4xi32> into memref<?xi32>
  linalg.add ins(%c, %c : memref<?xi32>, memref<?xi32>) outs(%y : memref<?xi32>)
  return
}

func.func @written(%x: memref<?xi32>, %y: memref<?x4xi32>) {
  %c = memref.collapse_shape %y [[0, 1]] : memref<?x4xi32> into memref<?xi32>
  linalg.add ins(%x, %x : memref<?xi32>, memref<?xi32>) outs(%c : memref<?xi32>)
  return
}

func.func @grouped(%x: tensor<?x?x3xi32>, %w: tensor<6x?xi32>, %o: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %c = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x?x3xi32> into tensor<?x?xi32>
  %r = linalg.matmul ins(%c, %w : tensor<?x?xi32>, tensor<6x?xi32>) outs(%o : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @given(%x: tensor<?xi32>, %rows: index, %o: tensor<?xi32>) -> tensor<?xi32> {
  %m = tensor.expand_shape %x [[0, 1]] output_shape [%rows, 4] : tensor<?xi32> into tensor<?x4xi32>
  %r = linalg.reduce { arith.addi } ins(%m : tensor<?x4xi32>) outs(%o : tensor<?xi32>) dimensions = [1]
  return %r : tensor<?xi32>
}

func.func @made(%x: tensor<?x4xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xi32> into tensor<?xi32>
  %n = tensor.dim %c, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.add ins(%c, %c : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
