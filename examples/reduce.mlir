// A sum: of numbers of 32 bits, added up in 64 bits, rounded to 32 bits at the end.
//
//   s = sum over i of x[i]
func.func @reduce(%x: tensor<1000xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %points = mdh.inp_view (i = 1000) (%x[i] : tensor<1000xf32>) : !mdh.mda<1000, f32>
  %sum = mdh.hom((%x_i: f32) {
      %wide = arith.extf %x_i : f32 to f64
      mdh.yield %wide : f64
  }, (pw(addf))) %points : !mdh.mda<1000, f32> -> !mdh.mda<1, f64>
  %s = mdh.out_view (i) %sum -> (s = %init[] : tensor<f32>) : !mdh.mda<1, f64>
  return %s : tensor<f32>
}
