// Constants in memory have the order of their uses, and are numbered by it, whatever order bufferization took.
//
// RUN: mdh-opt %s --split-input-file --mdh-order-constants | FileCheck %s
// RUN: mdh compile %S/../Run/linalg-coupled.mlir --emit bufferized > %t.once.mlir
// RUN: mdh compile %S/../Run/linalg-coupled.mlir --emit bufferized > %t.twice.mlir
// RUN: diff %t.once.mlir %t.twice.mlir
//
// Refuses nothing: any module has an order.

// CHECK:       memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<7>
// CHECK-NEXT:  memref.global "private" constant @__constant_2xi32_0 : memref<2xi32> = dense<9>
// CHECK-NEXT:  memref.global "private" constant @__constant_xf32 : memref<f32> = dense<1.000000e+00>
// CHECK-NEXT:  memref.global "private" constant @__constant_2xi32_2 : memref<2xi32> = dense<3>
// CHECK-NEXT:  memref.global constant @__constant_2xi32_1 : memref<2xi32> = dense<5>
// CHECK-NEXT:  memref.global "private" constant @mine : memref<2xi32> = dense<1>
memref.global "private" constant @__constant_2xi32_5 : memref<2xi32> = dense<9>
// One that others know keeps its name and place, and so does one of another name.
memref.global constant @__constant_2xi32_1 : memref<2xi32> = dense<5>
memref.global "private" constant @mine : memref<2xi32> = dense<1>
memref.global "private" constant @__constant_xf32_3 : memref<f32> = dense<1.0>
memref.global "private" constant @__constant_2xi32_0 : memref<2xi32> = dense<3>
memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<7>

// CHECK-LABEL: func.func @first
// CHECK-NEXT:  memref.get_global @__constant_2xi32 :
// CHECK-NEXT:  memref.get_global @__constant_2xi32_0 :
// CHECK-NEXT:  memref.get_global @mine :
func.func @first() -> (memref<2xi32>, memref<2xi32>, memref<2xi32>) {
  %x = memref.get_global @__constant_2xi32 : memref<2xi32>
  %y = memref.get_global @__constant_2xi32_5 : memref<2xi32>
  %z = memref.get_global @mine : memref<2xi32>
  return %x, %y, %z : memref<2xi32>, memref<2xi32>, memref<2xi32>
}

// CHECK-LABEL: func.func @second
// CHECK-NEXT:  memref.get_global @__constant_xf32 :
// CHECK-NEXT:  memref.get_global @__constant_2xi32_0 :
// CHECK-NEXT:  memref.get_global @__constant_2xi32_1 :
// CHECK-NEXT:  memref.get_global @__constant_2xi32_2 :
func.func @second() -> (memref<f32>, memref<2xi32>, memref<2xi32>, memref<2xi32>) {
  %x = memref.get_global @__constant_xf32_3 : memref<f32>
  %y = memref.get_global @__constant_2xi32_5 : memref<2xi32>
  %z = memref.get_global @__constant_2xi32_1 : memref<2xi32>
  %u = memref.get_global @__constant_2xi32_0 : memref<2xi32>
  return %x, %y, %z, %u : memref<f32>, memref<2xi32>, memref<2xi32>, memref<2xi32>
}

// -----

// Silent: nothing in memory is a constant.
// CHECK-LABEL: func.func @none
// CHECK-NEXT:  return
func.func @none() {
  return
}
