// A caller's tensor is the same before and after a call: what writes one that is an input writes a copy. Stages that are
// printed show the program that is run.
// RUN: mdh compile %s --emit bufferized | FileCheck %s
// RUN: mdh run %s --random 1 --check | FileCheck %s --check-prefix=CALL
// RUN: mdh compile %s --emit compute | FileCheck %s --check-prefix=BEFORE

// CHECK: func.func @first(%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: memref.copy %[[X]], %[[Y]]
// CHECK-NOT: memref.store %{{.*}}, %[[X]]
// CHECK: memref.store %{{.*}}, %[[Y]]
// CALL: passed: 8 of 8 elements compared, no difference
// BEFORE-NOT: bufferization.writable
func.func @first(%x: tensor<8xf32>) -> tensor<8xf32> {
  %i = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  %y = tensor.insert %v into %x[%i] : tensor<8xf32>
  return %y : tensor<8xf32>
}
