// Functions for C and Python to call: the callers beside this file say what they give.

// The product of a matrix and a vector of any sizes.
func.func @matvec(%M: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %M, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %M, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%rows) : tensor<?xf32>
  %w = mdh.compute (i = %rows, k = %columns)
      out_view(w = %init[i] : tensor<?xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(M = %M[i, k] : tensor<?x?xf32>, v = %v[k] : tensor<?xf32>)
  return %w : tensor<?xf32>
}

// The product of two matrices, large enough to run on several threads.
func.func @matmul(%A: tensor<512x512xf32>, %B: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %init = tensor.empty() : tensor<512x512xf32>
  %C = mdh.compute (i = 512, j = 512, k = 512)
      out_view(C = %init[i, j] : tensor<512x512xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<512x512xf32>, B = %B[k, j] : tensor<512x512xf32>)
  return %C : tensor<512x512xf32>
}

// The sum and the largest one of some numbers: two results.
func.func @total(%x: tensor<?xf64>) -> (tensor<f64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf64>
  %sum_init = tensor.empty() : tensor<f64>
  %largest_init = tensor.empty() : tensor<f64>
  %sum, %largest = mdh.compute (i = %n)
      out_view(sum = %sum_init[] : tensor<f64>, largest = %largest_init[] : tensor<f64>)
      md_hom((%x_i: f64) {
        mdh.yield %x_i, %x_i : f64, f64
      }, (pw(addf, maximumf)))
      inp_view(x = %x[i] : tensor<?xf64>)
  return %sum, %largest : tensor<f64>, tensor<f64>
}

// Half precision: every number times a factor.
func.func @scale(%factor: f16, %x: tensor<?xf16>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf16>
  %init = tensor.empty(%n) : tensor<?xf16>
  %y = mdh.compute (i = %n)
      out_view(y = %init[i] : tensor<?xf16>)
      md_hom((%factor_i: f16, %x_i: f16) {
        %y_i = arith.mulf %factor_i, %x_i : f16
        mdh.yield %y_i : f16
      }, (cc))
      inp_view(factor = %factor[] : f16, x = %x[i] : tensor<?xf16>)
  return %y : tensor<?xf16>
}
