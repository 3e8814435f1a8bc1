// A photograph, blurred: each colour of each pixel becomes a weighted mean of the 5 x 5
// pixels around it. Pixels too near the border have no such neighbourhood and are left out.
//
//   blurred[y, x, c] = sum over r, s of photo[y + r, x + s, c] * filter[r, s]
func.func @blur(%photo: tensor<?x?x3xf32>, %filter: tensor<5x5xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %photo_height = tensor.dim %photo, %c0 : tensor<?x?x3xf32>
  %photo_width = tensor.dim %photo, %c1 : tensor<?x?x3xf32>
  %height = arith.subi %photo_height, %c4 : index
  %width = arith.subi %photo_width, %c4 : index
  %init = tensor.empty(%height, %width) : tensor<?x?x3xf32>

  %points = mdh.inp_view (y = %height, x = %width, c = 3, r = 5, s = 5)
      (%photo[y + r, x + s, c] : tensor<?x?x3xf32>, %filter[r, s] : tensor<5x5xf32>)
      : !mdh.mda<?x?x3x5x5, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, cc, pw(addf), pw(addf))) %points
      : !mdh.mda<?x?x3x5x5, f32, f32> -> !mdh.mda<?x?x3x1x1, f32>
  %blurred = mdh.out_view (y, x, c, r, s) %sums -> (blurred = %init[y, x, c] : tensor<?x?x3xf32>)
      : !mdh.mda<?x?x3x1x1, f32>
  return %blurred : tensor<?x?x3xf32>
}
