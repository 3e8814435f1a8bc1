// A tensor contraction from quantum chemistry: one of the nine that make up most of the work
// of the coupled cluster method CCSD(T). Six free indices, one contracted.
//
//   T[a, b, c, d, e, f] = sum over g of A[g, d, a, b] * B[e, f, g, c]
func.func @ccsdt(%A: tensor<5x2x3x4xf32>, %B: tensor<3x4x5x2xf32>) -> tensor<3x4x2x2x3x4xf32> {
  %init = tensor.empty() : tensor<3x4x2x2x3x4xf32>
  %points = mdh.inp_view (a = 3, b = 4, c = 2, d = 2, e = 3, f = 4, g = 5)
      (%A[g, d, a, b] : tensor<5x2x3x4xf32>, %B[e, f, g, c] : tensor<3x4x5x2xf32>)
      : !mdh.mda<3x4x2x2x3x4x5, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, cc, cc, pw(addf))) %points
      : !mdh.mda<3x4x2x2x3x4x5, f32, f32> -> !mdh.mda<3x4x2x2x3x4x1, f32>
  %T = mdh.out_view (a, b, c, d, e, f, g) %sums
      -> (T = %init[a, b, c, d, e, f] : tensor<3x4x2x2x3x4xf32>)
      : !mdh.mda<3x4x2x2x3x4x1, f32>
  return %T : tensor<3x4x2x2x3x4xf32>
}
