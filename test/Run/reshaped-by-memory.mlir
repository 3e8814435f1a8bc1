// memref.reshape and tensor.reshape by a shape of any integer type, to a shape that is not known before the run.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(12)"
// RUN: %python %S/Inputs/npy.py save %t.s4.npy i4 "[3, 4]"
// RUN: %python %S/Inputs/npy.py save %t.s8.npy i8 "[3, 4]"
// RUN: mdh run %s --entry dynamic --in %t.x.npy %t.s4.npy --check --out %t.v.npy | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.v.npy a | FileCheck %s --check-prefix VALUE
// VALUE: 5
// RUN: mdh run %s --entry raised --in x=%t.x.npy s=%t.s4.npy --check | FileCheck %s
// RUN: mdh run %s --entry wide --in x=%t.x.npy s=%t.s8.npy --check | FileCheck %s
// RUN: mdh run %s --entry index --in x=%t.x.npy s=%t.s8.npy --check | FileCheck %s
// RUN: mdh run %s --entry tensor --in x=%t.x.npy s=%t.s4.npy --random 1 --check | FileCheck %s
// CHECK: check {{ *}}passed

func.func @dynamic(%x: memref<12xf32>, %s: memref<2xi32>) -> f32 {
  %c1 = arith.constant 1 : index
  %r = memref.reshape %x(%s) : (memref<12xf32>, memref<2xi32>) -> memref<?x?xf32>
  %v = memref.load %r[%c1, %c1] : memref<?x?xf32>
  return %v : f32
}

func.func @raised(%x: memref<12xf32>, %s: memref<2xi32>, %y: memref<3x4xf32>) {
  %r = memref.reshape %x(%s) : (memref<12xf32>, memref<2xi32>) -> memref<?x?xf32>
  %z = memref.cast %r : memref<?x?xf32> to memref<3x4xf32>
  linalg.exp ins(%z : memref<3x4xf32>) outs(%y : memref<3x4xf32>)
  return
}

func.func @wide(%x: memref<12xf32>, %s: memref<2xi64>, %y: memref<3x4xf32>) {
  %r = memref.reshape %x(%s) : (memref<12xf32>, memref<2xi64>) -> memref<?x?xf32>
  linalg.exp ins(%r : memref<?x?xf32>) outs(%y : memref<3x4xf32>)
  return
}

func.func @index(%x: memref<12xf32>, %s: memref<2xindex>, %y: memref<3x4xf32>) {
  %r = memref.reshape %x(%s) : (memref<12xf32>, memref<2xindex>) -> memref<?x?xf32>
  linalg.exp ins(%r : memref<?x?xf32>) outs(%y : memref<3x4xf32>)
  return
}

func.func @tensor(%x: tensor<12xf32>, %s: tensor<2xi32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %r = tensor.reshape %x(%s) : (tensor<12xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %z = linalg.exp ins(%r : tensor<?x?xf32>) outs(%y : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}
