// A sum of nothing but -0.0 to which -0.0 is carried in is -0.0, as upstream's loops have it: registers start from -0.0
// there, which no check tells from 0.0.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((8,16,), -0.0)" %t.y.npy f4 "np.full((8,), -0.0)"
// RUN: mdh run %s --entry row --in %t.x.npy %t.y.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((1000,), -0.0)" %t.y.npy f4 "np.full((), -0.0)"
// RUN: mdh run %s --entry all --in %t.x.npy %t.y.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((16,40,), -0.0)" %t.y.npy f4 "np.full((40,), -0.0)"
// RUN: mdh run %s --entry columns --in %t.x.npy %t.y.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((7,13,), -0.0)" %t.y.npy f4 "np.full((13,), -0.0)"
// RUN: mdh run %s --entry masked --in %t.x.npy %t.y.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((1003,), -0.0)" %t.y.npy f4 "np.full((), -0.0)"
// RUN: mdh run %s --entry tail --in %t.x.npy %t.y.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((3,0,), -0.0)" %t.y.npy f4 "np.full((3,), -0.0)"
// RUN: mdh run %s --entry empty --in %t.x.npy %t.y.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
//
// RUN: %python %S/Inputs/npy.py save %t.a.npy f4 "np.zeros((33, 40))" %t.b.npy f4 "np.full((40, 35), -1)" %t.c.npy f4 "np.full((33, 35), -0.0)"
// RUN: mdh run %s --entry product --in %t.a.npy %t.b.npy %t.c.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.c.npy f4 "np.zeros((33, 35))"
// RUN: mdh run %s --entry product --in %t.a.npy %t.b.npy %t.c.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "not np.signbit(a).any()" | FileCheck %s
//
// A fill is no other start.
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.full((16, 40), -0.0)"
// RUN: mdh run %s --entry filled --in %t.x.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "np.signbit(a).all()" | FileCheck %s
// RUN: mdh run %s --entry positive --in %t.x.npy --check --out %t.r.npy
// RUN: %python %S/Inputs/npy.py show %t.r.npy "not np.signbit(a).any()" | FileCheck %s
// CHECK: {{^}}1

func.func @row(%x: tensor<8x16xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8x16xf32>) outs(%y : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}

func.func @all(%x: tensor<1000xf32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1000xf32>) outs(%y : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @columns(%x: tensor<16x40xf32>, %y: tensor<40xf32>) -> tensor<40xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<16x40xf32>) outs(%y : tensor<40xf32>) dimensions = [0]
  return %r : tensor<40xf32>
}

func.func @masked(%x: tensor<7x13xf32>, %y: tensor<13xf32>) -> tensor<13xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<7x13xf32>) outs(%y : tensor<13xf32>) dimensions = [0]
  return %r : tensor<13xf32>
}

func.func @tail(%x: tensor<1003xf32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1003xf32>) outs(%y : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @empty(%x: tensor<3x0xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<3x0xf32>) outs(%y : tensor<3xf32>) dimensions = [1]
  return %r : tensor<3xf32>
}

func.func @product(%a: tensor<33x40xf32>, %b: tensor<40x35xf32>, %c: tensor<33x35xf32>) -> tensor<33x35xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<33x40xf32>, tensor<40x35xf32>) outs(%c : tensor<33x35xf32>) -> tensor<33x35xf32>
  return %r : tensor<33x35xf32>
}

func.func @filled(%x: tensor<16x40xf32>) -> tensor<40xf32> {
  %z = arith.constant -0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<16x40xf32>) outs(%y : tensor<40xf32>) dimensions = [0]
  return %r : tensor<40xf32>
}

func.func @positive(%x: tensor<16x40xf32>) -> tensor<40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<16x40xf32>) outs(%y : tensor<40xf32>) dimensions = [0]
  return %r : tensor<40xf32>
}
