// Two reductions of one vector in one pass over it.
//
//   s = sum over i of x[i]
//   m = max over i of x[i]
func.func @reduce2(%x: tensor<1000xf32>) -> (tensor<f32>, tensor<f32>) {
  %s_init = tensor.empty() : tensor<f32>
  %m_init = tensor.empty() : tensor<f32>
  %points = mdh.inp_view (i = 1000) (%x[i] : tensor<1000xf32>) : !mdh.mda<1000, f32>
  %both = mdh.hom((%x_i: f32) {
      mdh.yield %x_i, %x_i : f32, f32
  }, (pw(addf, maximumf))) %points : !mdh.mda<1000, f32> -> !mdh.mda<1, f32, f32>
  %s, %m = mdh.out_view (i) %both -> (s = %s_init[] : tensor<f32>, m = %m_init[] : tensor<f32>)
      : !mdh.mda<1, f32, f32>
  return %s, %m : tensor<f32>, tensor<f32>
}
