// One step of a Jacobi iteration in three dimensions: the mean of each inner point and its six
// neighbours. Points on the border have no such neighbours and no result.
//
//   y[i - 1, j - 1, k - 1] = (  x[i, j, k] + x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k]
//                             + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]) / 7
//                                       for 1 <= i < 6, 1 <= j < 8 and 1 <= k < 10
func.func @jacobi3d(%x: tensor<7x9x11xf32>) -> tensor<5x7x9xf32> {
  %init = tensor.empty() : tensor<5x7x9xf32>
  %points = mdh.inp_view (i = 1 to 6, j = 1 to 8, k = 1 to 10)
      (%x[i, j, k][i - 1, j, k][i + 1, j, k][i, j - 1, k][i, j + 1, k][i, j, k - 1][i, j, k + 1]
       : tensor<7x9x11xf32>)
      : !mdh.mda<5x7x9, f32, f32, f32, f32, f32, f32, f32>
  %step = mdh.hom((%x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32) {
      %seven = arith.constant 7.0 : f32
      %s1 = arith.addf %x0, %x1 : f32
      %s2 = arith.addf %s1, %x2 : f32
      %s3 = arith.addf %s2, %x3 : f32
      %s4 = arith.addf %s3, %x4 : f32
      %s5 = arith.addf %s4, %x5 : f32
      %s6 = arith.addf %s5, %x6 : f32
      %y = arith.divf %s6, %seven : f32
      mdh.yield %y : f32
  }, (cc, cc, cc)) %points
      : !mdh.mda<5x7x9, f32, f32, f32, f32, f32, f32, f32> -> !mdh.mda<5x7x9, f32>
  %y = mdh.out_view (i, j, k) %step -> (y = %init[i - 1, j - 1, k - 1] : tensor<5x7x9xf32>)
      : !mdh.mda<5x7x9, f32>
  return %y : tensor<5x7x9xf32>
}
