// A chain that the model fuses across a computation which is loops by then, and reads what the chain's first one reads:
// (x * 0.5) @ (transpose(x) * 0.5) + m.
//
// RUN: mdh run %s --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --random 1 --check=exact | FileCheck %s
// CHECK: check passed

func.func @f(%x: tensor<4x64x16xf32>, %m: tensor<64x64xf32>) -> tensor<4x64x64xf32> {
  %h = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4x64x16xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(b,i,j)->(b,i,j)>, affine_map<(b,i,j)->(b,i,j)>], iterator_types = ["parallel","parallel","parallel"]}
    ins(%x : tensor<4x64x16xf32>) outs(%e1 : tensor<4x64x16xf32>) {
    ^bb0(%p: f32, %q: f32): %r = arith.mulf %p, %h : f32 linalg.yield %r : f32 } -> tensor<4x64x16xf32>
  %e2 = tensor.empty() : tensor<4x16x64xf32>
  %t = linalg.transpose ins(%x : tensor<4x64x16xf32>) outs(%e2 : tensor<4x16x64xf32>) permutation = [0, 2, 1]
  %b = linalg.generic {indexing_maps = [affine_map<(b,i,j)->(b,i,j)>, affine_map<(b,i,j)->(b,i,j)>], iterator_types = ["parallel","parallel","parallel"]}
    ins(%t : tensor<4x16x64xf32>) outs(%e2 : tensor<4x16x64xf32>) {
    ^bb0(%p: f32, %q: f32): %r = arith.mulf %p, %h : f32 linalg.yield %r : f32 } -> tensor<4x16x64xf32>
  %e3 = tensor.empty() : tensor<4x64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<4x64x16xf32>, tensor<4x16x64xf32>) outs(%z : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b,i,j)->(b,i,j)>, affine_map<(b,i,j)->(i,j)>, affine_map<(b,i,j)->(b,i,j)>], iterator_types = ["parallel","parallel","parallel"]}
    ins(%c, %m : tensor<4x64x64xf32>, tensor<64x64xf32>) outs(%e3 : tensor<4x64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32): %r = arith.addf %p, %q : f32 linalg.yield %r : f32 } -> tensor<4x64x64xf32>
  return %s : tensor<4x64x64xf32>
}
