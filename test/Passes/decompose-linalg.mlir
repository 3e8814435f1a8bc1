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

// -----

// Padding by less than nothing is padding of a slice.
// CHECK-LABEL: func.func @below
// CHECK:       %[[S:.*]] = tensor.extract_slice %arg0[2, 0] [5, 6] [1, 1] : tensor<7x8xf32> to tensor<5x6xf32>
// CHECK:       tensor.pad %[[S]] low[0, 3] high[1, 0]
func.func @below(%x: tensor<7x8xf32>, %z: f32) -> tensor<6x9xf32> {
  %p = tensor.pad %x low[-2, 3] high[1, -2] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<7x8xf32> to tensor<6x9xf32>
  return %p : tensor<6x9xf32>
}

// -----

// So is padding that may be, but not where numbers are known not to be negative.
// CHECK-LABEL: func.func @open
// CHECK:       %[[N:.*]] = arith.maxsi %arg1, %{{.*}}
// CHECK:       tensor.pad %arg0 low[%[[N]], 1] high[2, %[[N]]]
// CHECK:       %[[S:.*]] = tensor.extract_slice %arg0[0, %{{.*}}] [%{{.*}}, %{{.*}}] [1, 1]
// CHECK:       tensor.pad %[[S]] low[%[[N]], %{{.*}}] high[2, %{{.*}}]
func.func @open(%x: tensor<?x?xf32>, %n: index, %z: f32) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %m = arith.maxsi %n, %c0 : index
  %p = tensor.pad %x low[%m, 1] high[2, %m] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  %q = tensor.pad %x low[%m, 1] high[2, %n] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %p, %q : tensor<?x?xf32>, tensor<?x?xf32>
}

// Refuses nothing: what upstream does not decompose stays as it is.
