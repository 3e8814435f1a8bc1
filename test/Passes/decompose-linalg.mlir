// RUN: mdh-opt %s --split-input-file --mdh-decompose-linalg --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NOT:   linalg.softmax
// CHECK-COUNT-4: linalg.generic
// CHECK:       return
func.func @softmax(%x: tensor<?x5xf32>, %y: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x5xf32>) outs(%y : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}

// -----

// What is made of memrefs is put there.
// CHECK-LABEL: func.func @memory
// CHECK:       %[[X:.*]] = bufferization.to_tensor %arg0 restrict
// CHECK-NOT:   linalg.softmax
// CHECK:       bufferization.materialize_in_destination %{{.*}} in restrict writable %arg1
func.func @memory(%x: memref<4x5xf32>, %y: memref<4x5xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<4x5xf32>) outs(%y : memref<4x5xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @packs
// CHECK:       tensor.pad
// CHECK:       tensor.expand_shape
// CHECK:       linalg.transpose
// CHECK:       linalg.transpose
// CHECK:       tensor.collapse_shape
// CHECK:       tensor.extract_slice
func.func @packs(%x: tensor<7x8xf32>, %y: tensor<4x3x2x3xf32>) -> tensor<7x8xf32> {
  %half = arith.constant 0.5 : f32
  %p = linalg.pack %x padding_value(%half : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %y
      : tensor<7x8xf32> -> tensor<4x3x2x3xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %x : tensor<4x3x2x3xf32> -> tensor<7x8xf32>
  return %u : tensor<7x8xf32>
}

// -----

// Operations with loops are left alone.
// CHECK-LABEL: func.func @product
// CHECK:       linalg.matmul
func.func @product(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>
}

// -----

func.func @unknown(%x: tensor<?x8xf32>, %y: tensor<?x4x?x2xf32>, %n: index) -> tensor<?x4x?x2xf32> {
  %half = arith.constant 0.5 : f32
  // expected-remark @+1 {{'linalg.pack' op stays as it is: upstream decomposes none with tiles or padding of unknown sizes; expected numbers}}
  %p = linalg.pack %x padding_value(%half : f32) inner_dims_pos = [0, 1] inner_tiles = [%n, 2] into %y
      : tensor<?x8xf32> -> tensor<?x4x?x2xf32>
  return %p : tensor<?x4x?x2xf32>
}

// Refuses nothing: what upstream does not decompose stays as it is.
