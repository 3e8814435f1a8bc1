// A matrix, transposed: nothing is computed, the views say it all.
//
//   y[j, i] = x[i, j]
func.func @transpose(%x: tensor<11x18xf32>) -> tensor<18x11xf32> {
  %init = tensor.empty() : tensor<18x11xf32>
  %points = mdh.inp_view (i = 11, j = 18) (%x[i, j] : tensor<11x18xf32>) : !mdh.mda<11x18, f32>
  %same = mdh.hom(id, (cc, cc)) %points : !mdh.mda<11x18, f32> -> !mdh.mda<11x18, f32>
  %y = mdh.out_view (i, j) %same -> (y = %init[j, i] : tensor<18x11xf32>)
      : !mdh.mda<11x18, f32>
  return %y : tensor<18x11xf32>
}
