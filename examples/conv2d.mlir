// A convolution of an image with a filter, at all places where the filter lies whole in the
// image ("valid").
//
//   out[p, q] = sum over r, s of image[p + r, q + s] * filter[r, s]
func.func @conv2d(%image: tensor<16x13xf32>, %filter: tensor<5x3xf32>) -> tensor<12x11xf32> {
  %init = tensor.empty() : tensor<12x11xf32>
  %points = mdh.inp_view (p = 12, q = 11, r = 5, s = 3)
      (%image[p + r, q + s] : tensor<16x13xf32>, %filter[r, s] : tensor<5x3xf32>)
      : !mdh.mda<12x11x5x3, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf), pw(addf))) %points
      : !mdh.mda<12x11x5x3, f32, f32> -> !mdh.mda<12x11x1x1, f32>
  %out = mdh.out_view (p, q, r, s) %sums -> (out = %init[p, q] : tensor<12x11xf32>)
      : !mdh.mda<12x11x1x1, f32>
  return %out : tensor<12x11xf32>
}
