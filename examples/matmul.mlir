// The product of two matrices.
//
//   C[i, j] = sum over k of A[i, k] * B[k, j]
func.func @matmul(%A: tensor<64x64xf32>, %B: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %init = tensor.empty() : tensor<64x64xf32>
  %points = mdh.inp_view (i = 64, j = 64, k = 64)
      (%A[i, k] : tensor<64x64xf32>, %B[k, j] : tensor<64x64xf32>)
      : !mdh.mda<64x64x64, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf))) %points
      : !mdh.mda<64x64x64, f32, f32> -> !mdh.mda<64x64x1, f32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<64x64xf32>)
      : !mdh.mda<64x64x1, f32>
  return %C : tensor<64x64xf32>
}
