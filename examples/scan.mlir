// All prefix sums of a vector of any length.
//
//   y[i] = sum over k <= i of x[k]
func.func @scan(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty(%n) : tensor<?xf32>
  %points = mdh.inp_view (i = %n) (%x[i] : tensor<?xf32>) : !mdh.mda<?, f32>
  %sums = mdh.hom(id, (ps(addf))) %points : !mdh.mda<?, f32> -> !mdh.mda<?, f32>
  %y = mdh.out_view (i) %sums -> (y = %init[i] : tensor<?xf32>) : !mdh.mda<?, f32>
  return %y : tensor<?xf32>
}
