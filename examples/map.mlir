// A function of each element: the logistic function.
//
//   y[i] = 1 / (1 + exp(-x[i]))
func.func @map(%x: tensor<37xf32>) -> tensor<37xf32> {
  %init = tensor.empty() : tensor<37xf32>
  %points = mdh.inp_view (i = 37) (%x[i] : tensor<37xf32>) : !mdh.mda<37, f32>
  %values = mdh.hom((%x_i: f32) {
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %x_i : f32
      %exp = math.exp %minus : f32
      %sum = arith.addf %one, %exp : f32
      %y = arith.divf %one, %sum : f32
      mdh.yield %y : f32
  }, (cc)) %points : !mdh.mda<37, f32> -> !mdh.mda<37, f32>
  %y = mdh.out_view (i) %values -> (y = %init[i] : tensor<37xf32>) : !mdh.mda<37, f32>
  return %y : tensor<37xf32>
}
