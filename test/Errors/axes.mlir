// The extent of an axis that a buffer does not have is refused before anything else is done.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-insert-range-checks

func.func @below(%M: tensor<?x?xf32>) -> index {
  %c-7 = arith.constant -7 : index
  // expected-error @+1 {{'tensor.dim' op asks for the extent of axis -7 of a buffer whose axes are 0 to 1}}
  %extent = tensor.dim %M, %c-7 : tensor<?x?xf32>
  return %extent : index
}

// -----
func.func @beyond(%M: memref<?x?xf32>) -> index {
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{'memref.dim' op asks for the extent of axis 2 of a buffer whose axes are 0 to 1}}
  %extent = memref.dim %M, %c2 : memref<?x?xf32>
  return %extent : index
}

// -----
func.func @within(%M: memref<?x?xf32>, %axis: index) -> (index, index) {
  %c1 = arith.constant 1 : index
  %extent = memref.dim %M, %c1 : memref<?x?xf32>
  %any = memref.dim %M, %axis : memref<?x?xf32>
  return %extent, %any : index, index
}
