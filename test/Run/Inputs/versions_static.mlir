// The product of a matrix and a vector, as examples/matvec.mlir is for these sizes.
func.func @other(%M: tensor<33x100xf32>, %v: tensor<100xf32>) -> tensor<33xf32> {
  %init = tensor.empty() : tensor<33xf32>
  %w = mdh.compute (i = 33, k = 100)
    out_view(w = %init[i] : tensor<33xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : tensor<33x100xf32>, v = %v[k] : tensor<100xf32>)
  return %w : tensor<33xf32>
}
