// w[i] = sum over k of M[i, k] * v[k]
func.func @matvec(%M: tensor<512x512xf32>, %v: tensor<512xf32>) -> tensor<512xf32> {
  %init = tensor.empty() : tensor<512xf32>
  %points = mdh.inp_view (i = 512, k = 512)
      (%M[i, k] : tensor<512x512xf32>, %v[k] : tensor<512xf32>) : !mdh.mda<512x512, f32, f32>
  %sums = mdh.hom(mulf, (cc, pw(addf))) %points : !mdh.mda<512x512, f32, f32> -> !mdh.mda<512x1, f32>
  %w = mdh.out_view (i, k) %sums -> (w = %init[i] : tensor<512xf32>) : !mdh.mda<512x1, f32>
  return %w : tensor<512xf32>
}
