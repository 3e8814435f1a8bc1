// The product of a matrix and a vector.
//
//   w[i] = sum over k of M[i, k] * v[k]
//
// The matrix is of any size.
func.func @matvec(%M: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %M, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %M, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%rows) : tensor<?xf32>
  %points = mdh.inp_view (i = %rows, k = %columns)
      (%M[i, k] : tensor<?x?xf32>, %v[k] : tensor<?xf32>) : !mdh.mda<?x?, f32, f32>
  %sums = mdh.hom(mulf, (cc, pw(addf))) %points : !mdh.mda<?x?, f32, f32> -> !mdh.mda<?x1, f32>
  %w = mdh.out_view (i, k) %sums -> (w = %init[i] : tensor<?xf32>) : !mdh.mda<?x1, f32>
  return %w : tensor<?xf32>
}
