// What programs have besides computations: tensors that linalg and tensor operations make.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(6).reshape(3, 2)"
//
// RUN: mdh run %s --check --entry filled --in %t.x.npy --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix EVERY
// RUN: mdh run %s --check --entry copied --in %t.x.npy --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix EVERY
// RUN: mdh run %s --entry generated --in %t.x.npy --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix EVERY
// EVERY: 6 float32
// EVERY-NEXT: 7 1 7 5 7 9
//
// RUN: mdh run %s --check --entry doubled --in %t.x.npy --out %t.y.npy | FileCheck %s --check-prefix CHECKED
// CHECKED: check passed: 3 of 3 elements compared, no difference; 3 told from zero
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix DOUBLED
// DOUBLED: 3 float32
// DOUBLED-NEXT: 2 10 18
//
// RUN: mdh compile %s --emit loops | FileCheck %s --check-prefix LOOPS --implicit-check-not linalg.
// LOOPS: func.func @filled(
//
// RUN: not mdh run %s --check --entry magnitude --in 3 4 2>&1 | FileCheck %s --check-prefix UNKNOWN
// UNKNOWN: error: 'complex.create' op is not known to the oracle
//
// RUN: not mdh run %s --entry magnitude --in 3 4 2>&1 | FileCheck %s --check-prefix LEFT
// LEFT: linalg.mlir:[[# @LINE + 56]]:{{.*}}: error: 'complex.abs' op is left where machine code is expected: mdh has no lowering for it

func.func @filled(%x: tensor<3x2xf32>) -> tensor<6xf32> {
  %seven = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %init = linalg.fill ins(%seven : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %y = mdh.compute (i = 3, k = 2)
    out_view(y = %init[2 * i + 1] : tensor<6xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<3x2xf32>)
  return %y : tensor<6xf32>
}

func.func @copied(%x: tensor<3x2xf32>) -> tensor<6xf32> {
  %sevens = arith.constant dense<7.0> : tensor<6xf32>
  %init = bufferization.alloc_tensor() copy(%sevens) : tensor<6xf32>
  %y = mdh.compute (i = 3, k = 2)
    out_view(y = %init[2 * i + 1] : tensor<6xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<3x2xf32>)
  return %y : tensor<6xf32>
}

func.func @generated(%x: tensor<3x2xf32>) -> tensor<6xf32> {
  %init = tensor.generate {
  ^bb0(%i: index):
    %seven = arith.constant 7.0 : f32
    tensor.yield %seven : f32
  } : tensor<6xf32>
  %y = mdh.compute (i = 3, k = 2)
    out_view(y = %init[2 * i + 1] : tensor<6xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<3x2xf32>)
  return %y : tensor<6xf32>
}

func.func @doubled(%x: tensor<3x2xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %twice = linalg.generic {
    indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  } -> tensor<3x2xf32>
  %init = tensor.empty() : tensor<3xf32>
  %y = mdh.compute (i = 3, k = 2)
    out_view(y = %init[i] : tensor<3xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %twice[i, k] : tensor<3x2xf32>)
  return %y : tensor<3xf32>
}

func.func @magnitude(%a: f32, %b: f32) -> f32 {
  %c = complex.create %a, %b : complex<f32>
  %y = complex.abs %c : complex<f32>
  return %y : f32
}
