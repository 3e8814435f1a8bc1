// A batch of matrix products.
//
//   C[b, i, j] = sum over k of A[b, i, k] * B[b, k, j]
func.func @bmatmul(%A: tensor<3x5x4xf32>, %B: tensor<3x4x7xf32>) -> tensor<3x5x7xf32> {
  %init = tensor.empty() : tensor<3x5x7xf32>
  %points = mdh.inp_view (b = 3, i = 5, j = 7, k = 4)
      (%A[b, i, k] : tensor<3x5x4xf32>, %B[b, k, j] : tensor<3x4x7xf32>)
      : !mdh.mda<3x5x7x4, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, cc, pw(addf))) %points
      : !mdh.mda<3x5x7x4, f32, f32> -> !mdh.mda<3x5x7x1, f32>
  %C = mdh.out_view (b, i, j, k) %sums -> (C = %init[b, i, j] : tensor<3x5x7xf32>)
      : !mdh.mda<3x5x7x1, f32>
  return %C : tensor<3x5x7xf32>
}
