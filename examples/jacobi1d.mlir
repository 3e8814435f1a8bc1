// One step of a Jacobi iteration in one dimension: a multiple of the sum of each inner point
// and its two neighbours. The end points have no such neighbours and no result.
//
//   y[i - 1] = c * (x[i - 1] + x[i] + x[i + 1])        for 1 <= i < 41
func.func @jacobi1d(%x: tensor<42xf32>, %c: f32) -> tensor<40xf32> {
  %init = tensor.empty() : tensor<40xf32>
  %points = mdh.inp_view (i = 1 to 41)
      (%x[i - 1][i][i + 1] : tensor<42xf32>, %c[] : f32) : !mdh.mda<40, f32, f32, f32, f32>
  %step = mdh.hom((%left: f32, %here: f32, %right: f32, %factor: f32) {
      %s0 = arith.addf %left, %here : f32
      %s1 = arith.addf %s0, %right : f32
      %y = arith.mulf %factor, %s1 : f32
      mdh.yield %y : f32
  }, (cc)) %points : !mdh.mda<40, f32, f32, f32, f32> -> !mdh.mda<40, f32>
  %y = mdh.out_view (i) %step -> (y = %init[i - 1] : tensor<40xf32>) : !mdh.mda<40, f32>
  return %y : tensor<40xf32>
}
