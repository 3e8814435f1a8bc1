// A multi-channel convolution on capsules: what mcc.mlir has as numbers are 4 x 4 matrices
// here, multiplied as matrices, which takes three more dimensions (u, v and w).
//
//   out[n, p, q, k, u, v] = sum over r, s, c, w of   image[n, 2 p + r, 2 q + s, c, u, w]
//                                                  * filter[k, r, s, c, w, v]
func.func @mcc_capsule(%image: tensor<1x7x5x3x4x4xf32>, %filter: tensor<2x3x3x3x4x4xf32>)
    -> tensor<1x3x2x2x4x4xf32> {
  %init = tensor.empty() : tensor<1x3x2x2x4x4xf32>
  %points = mdh.inp_view (n = 1, p = 3, q = 2, k = 2, u = 4, v = 4, r = 3, s = 3, c = 3, w = 4)
      (%image[n, 2 * p + r, 2 * q + s, c, u, w] : tensor<1x7x5x3x4x4xf32>,
       %filter[k, r, s, c, w, v] : tensor<2x3x3x3x4x4xf32>)
      : !mdh.mda<1x3x2x2x4x4x3x3x3x4, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, cc, cc, pw(addf), pw(addf), pw(addf), pw(addf))) %points
      : !mdh.mda<1x3x2x2x4x4x3x3x3x4, f32, f32> -> !mdh.mda<1x3x2x2x4x4x1x1x1x1, f32>
  %out = mdh.out_view (n, p, q, k, u, v, r, s, c, w) %sums
      -> (out = %init[n, p, q, k, u, v] : tensor<1x3x2x2x4x4xf32>)
      : !mdh.mda<1x3x2x2x4x4x1x1x1x1, f32>
  return %out : tensor<1x3x2x2x4x4xf32>
}
