// What cannot be raised, or not as it stands: left alone with the rule that it does not follow.
//
// RUN: mdh-opt %s --allow-unregistered-dialect --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

// Code of a dialect that nobody here knows.
// CHECK-LABEL: func.func @unknown
// CHECK:       linalg.generic
func.func @unknown(%x: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body has 'other.twice': expected numbers that are computed}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = "other.twice"(%a) : (i32) -> i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}

// -----

// An index that is data is no index function.
// CHECK-LABEL: func.func @gathered
// CHECK:       linalg.generic
func.func @gathered(%x: tensor<8xindex>, %t: tensor<100xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body has 'tensor.extract'}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xindex>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: index, %o: f32):
    %s = tensor.extract %t[%a] : tensor<100xf32>
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Of what has no rank a part with one is raised: its sizes are those that it has when it runs.
// CHECK-LABEL: func.func @unranked
// CHECK:       %[[X:.*]] = tensor.cast %{{.*}} : tensor<*xf32> to tensor<?xf32>
// CHECK:       mdh.compute (i = %
// CHECK:       inp_view(in = %[[X]][i] : tensor<?xf32>)
func.func @unranked(%x: tensor<*xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = tensor.cast %x : tensor<*xf32> to tensor<?xf32>
  %z = linalg.exp ins(%r : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// The same memory in another shape, and memory that comes from anywhere.
// CHECK-LABEL: func.func @shared
// CHECK:       linalg.transpose
// CHECK:       linalg.copy
func.func @shared(%x: memref<4x4xi32>, %all: memref<16xi32>, %c: i1) {
  %y = memref.expand_shape %all [[0, 1]] output_shape [4, 4] : memref<16xi32> into memref<4x4xi32>
  %z = memref.reinterpret_cast %all to offset: [0], sizes: [4, 4], strides: [4, 1]
    : memref<16xi32> to memref<4x4xi32, strided<[4, 1]>>
  // expected-remark@+1 {{'linalg.transpose' op stays as it is: a destination may share memory with operand 0}}
  linalg.transpose ins(%y : memref<4x4xi32>) outs(%z : memref<4x4xi32, strided<[4, 1]>>) permutation = [1, 0]
  %any = arith.select %c, %x, %y : memref<4x4xi32>
  // expected-remark@+1 {{'linalg.copy' op stays as it is: a destination may share memory with operand 0}}
  linalg.copy ins(%any : memref<4x4xi32>) outs(%x : memref<4x4xi32>)
  return
}

// -----

// Each element is taken by two iterations.
// CHECK-LABEL: func.func @folded
// CHECK:       linalg.generic
func.func @folded(%x: tensor<8xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: as a computation, it}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%y : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<4xi32>
  return %z : tensor<4xi32>
}
