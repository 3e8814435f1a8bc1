// A multi-channel convolution, as in neural networks: n images of c channels, k filters, and
// a stride of 2 in both directions of the image.
//
//   out[n, p, q, k] = sum over r, s, c of image[n, 2 p + r, 2 q + s, c] * filter[k, r, s, c]
func.func @mcc(%image: tensor<2x11x10x3xf32>, %filter: tensor<5x3x4x3xf32>)
    -> tensor<2x5x4x5xf32> {
  %init = tensor.empty() : tensor<2x5x4x5xf32>
  %points = mdh.inp_view (n = 2, p = 5, q = 4, k = 5, r = 3, s = 4, c = 3)
      (%image[n, 2 * p + r, 2 * q + s, c] : tensor<2x11x10x3xf32>,
       %filter[k, r, s, c] : tensor<5x3x4x3xf32>)
      : !mdh.mda<2x5x4x5x3x4x3, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf))) %points
      : !mdh.mda<2x5x4x5x3x4x3, f32, f32> -> !mdh.mda<2x5x4x5x1x1x1, f32>
  %out = mdh.out_view (n, p, q, k, r, s, c) %sums
      -> (out = %init[n, p, q, k] : tensor<2x5x4x5xf32>) : !mdh.mda<2x5x4x5x1x1x1, f32>
  return %out : tensor<2x5x4x5xf32>
}
