// C[i, j] = sum over k of A[i, k] * B[k, j], of halves: products of matrices are schedules of it.
func.func @halves(%A: tensor<64x48xf16>, %B: tensor<48x64xf16>) -> tensor<64x64xf32> {
  %init = tensor.empty() : tensor<64x64xf32>
  %points = mdh.inp_view (i = 64, j = 64, k = 48)
      (%A[i, k] : tensor<64x48xf16>, %B[k, j] : tensor<48x64xf16>) : !mdh.mda<64x64x48, f16, f16>
  %sums = mdh.hom((%a: f16, %b: f16) {
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    mdh.yield %p : f32
  }, (cc, cc, pw(addf))) %points : !mdh.mda<64x64x48, f16, f16> -> !mdh.mda<64x64x1, f32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<64x64xf32>) : !mdh.mda<64x64x1, f32>
  return %C : tensor<64x64xf32>
}
