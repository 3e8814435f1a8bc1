// Elements of bf16 that code generation gathers into vectors are in the places that they belong to.
// RUN: mdh run %s --random 1 --check=all | FileCheck %s
// CHECK: check  passed: 20 of 20 elements compared, no difference

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: tensor<4x4xbf16>, %b: tensor<5x4xbf16>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  %d = linalg.matmul indexing_maps = [#a, #b, #c]
         ins(%a, %b : tensor<4x4xbf16>, tensor<5x4xbf16>) outs(%start : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %d : tensor<4x5xf32>
}
