// The summed-area table of an image: the sum of all pixels above and to the left of each.
// Numbers of 32 bits, added up in 64 bits.
//
//   y[i, j] = sum over k <= i and l <= j of x[k, l]
func.func @sat(%x: tensor<9x14xi32>) -> tensor<9x14xi64> {
  %init = tensor.empty() : tensor<9x14xi64>
  %points = mdh.inp_view (i = 9, j = 14) (%x[i, j] : tensor<9x14xi32>) : !mdh.mda<9x14, i32>
  %sums = mdh.hom((%x_ij: i32) {
      %wide = arith.extsi %x_ij : i32 to i64
      mdh.yield %wide : i64
  }, (ps(addi), ps(addi))) %points : !mdh.mda<9x14, i32> -> !mdh.mda<9x14, i64>
  %y = mdh.out_view (i, j) %sums -> (y = %init[i, j] : tensor<9x14xi64>) : !mdh.mda<9x14, i64>
  return %y : tensor<9x14xi64>
}
