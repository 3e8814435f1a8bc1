// A destination that was filled before it was filled again: its computation comes back with one fill, and none that
// nobody uses stays, also where nothing simplifies.
//
// RUN: mdh-opt %s --mdh-raise-linalg --mdh-to-linalg | FileCheck %s
// RUN: mdh-opt %s --mdh-raise --mdh-lower-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @refilled
// CHECK-NOT:   linalg.fill
// CHECK:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NOT:   linalg.fill
// CHECK:       %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK-NOT:   linalg.fill
// CHECK:       linalg.reduce { arith.addf } ins(%{{.*}}) outs(%[[START]] : tensor<4xf32>)
// CHECK-NOT:   linalg.fill
// CHECK:       return
func.func @refilled(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %g = linalg.fill ins(%one : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<4xf32>) -> tensor<4xf32>
  %d = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%h : tensor<4xf32>) dimensions = [1]
  return %d : tensor<4xf32>
}

// Of two that are used both stay.
// CHECK-LABEL: func.func @both
// CHECK-COUNT-2: linalg.fill
// CHECK:       return
func.func @both(%n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = linalg.fill ins(%two : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %f, %g : tensor<?xf32>, tensor<?xf32>
}
