// One step of a Jacobi iteration in two dimensions: the mean of each inner point and its four
// neighbours. Points on the border have no such neighbours and no result.
//
//   y[i - 1, j - 1] = (x[i, j] + x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) / 5
//                                                           for 1 <= i < 10 and 1 <= j < 14
func.func @jacobi2d(%x: tensor<11x15xf32>) -> tensor<9x13xf32> {
  %init = tensor.empty() : tensor<9x13xf32>
  %points = mdh.inp_view (i = 1 to 10, j = 1 to 14)
      (%x[i, j][i - 1, j][i + 1, j][i, j - 1][i, j + 1] : tensor<11x15xf32>)
      : !mdh.mda<9x13, f32, f32, f32, f32, f32>
  %step = mdh.hom((%here: f32, %up: f32, %down: f32, %left: f32, %right: f32) {
      %five = arith.constant 5.0 : f32
      %s0 = arith.addf %here, %up : f32
      %s1 = arith.addf %s0, %down : f32
      %s2 = arith.addf %s1, %left : f32
      %s3 = arith.addf %s2, %right : f32
      %y = arith.divf %s3, %five : f32
      mdh.yield %y : f32
  }, (cc, cc)) %points : !mdh.mda<9x13, f32, f32, f32, f32, f32> -> !mdh.mda<9x13, f32>
  %y = mdh.out_view (i, j) %step -> (y = %init[i - 1, j - 1] : tensor<9x13xf32>)
      : !mdh.mda<9x13, f32>
  return %y : tensor<9x13xf32>
}
