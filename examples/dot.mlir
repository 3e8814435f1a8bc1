// The dot product of two vectors.
//
//   s = sum over i of x[i] * y[i]
//
// The vectors are of any length, as long as it is the same.
func.func @dot(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty() : tensor<f32>
  %points = mdh.inp_view (i = %n) (%x[i] : tensor<?xf32>, %y[i] : tensor<?xf32>)
          : !mdh.mda<?, f32, f32>
  %sum = mdh.hom(mulf, (pw(addf))) %points : !mdh.mda<?, f32, f32> -> !mdh.mda<1, f32>
  %s = mdh.out_view (i) %sum -> (s = %init[] : tensor<f32>) : !mdh.mda<1, f32>
  return %s : tensor<f32>
}
