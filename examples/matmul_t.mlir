// The product of two matrices, all three of them stored transposed.
//
//   C[j, i] = sum over k of A[k, i] * B[j, k]
//
// The homomorphism is that of matmul.mlir; only the views differ.
func.func @matmul_t(%A: tensor<7x10xf32>, %B: tensor<12x7xf32>) -> tensor<12x10xf32> {
  %init = tensor.empty() : tensor<12x10xf32>
  %points = mdh.inp_view (i = 10, j = 12, k = 7)
      (%A[k, i] : tensor<7x10xf32>, %B[j, k] : tensor<12x7xf32>)
      : !mdh.mda<10x12x7, f32, f32>
  %sums = mdh.hom(mulf, (cc, cc, pw(addf))) %points
      : !mdh.mda<10x12x7, f32, f32> -> !mdh.mda<10x12x1, f32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[j, i] : tensor<12x10xf32>)
      : !mdh.mda<10x12x1, f32>
  return %C : tensor<12x10xf32>
}
