// The softmax of each row, without overflow.
//
//   m[i]    = max over j of x[i, j]
//   s[i]    = sum over j of exp(x[i, j] - m[i])
//   y[i, j] = exp(x[i, j] - m[i]) / s[i]
//
// Three homomorphisms; the later ones read m and s once for each j.
func.func @softmax(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %m_init = tensor.empty() : tensor<6xf32>
  %s_init = tensor.empty() : tensor<6xf32>
  %y_init = tensor.empty() : tensor<6x20xf32>

  %rows = mdh.inp_view (i = 6, j = 20) (%x[i, j] : tensor<6x20xf32>) : !mdh.mda<6x20, f32>
  %largest = mdh.hom(id, (cc, pw(maximumf))) %rows : !mdh.mda<6x20, f32> -> !mdh.mda<6x1, f32>
  %m = mdh.out_view (i, j) %largest -> (m = %m_init[i] : tensor<6xf32>) : !mdh.mda<6x1, f32>

  %below = mdh.inp_view (i = 6, j = 20) (%x[i, j] : tensor<6x20xf32>, %m[i] : tensor<6xf32>)
         : !mdh.mda<6x20, f32, f32>
  %sums = mdh.hom((%x_ij: f32, %m_i: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %exp = math.exp %less : f32
      mdh.yield %exp : f32
  }, (cc, pw(addf))) %below : !mdh.mda<6x20, f32, f32> -> !mdh.mda<6x1, f32>
  %s = mdh.out_view (i, j) %sums -> (s = %s_init[i] : tensor<6xf32>) : !mdh.mda<6x1, f32>

  %all = mdh.inp_view (i = 6, j = 20)
      (%x[i, j] : tensor<6x20xf32>, %m[i] : tensor<6xf32>, %s[i] : tensor<6xf32>)
      : !mdh.mda<6x20, f32, f32, f32>
  %scaled = mdh.hom((%x_ij: f32, %m_i: f32, %s_i: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %exp = math.exp %less : f32
      %y = arith.divf %exp, %s_i : f32
      mdh.yield %y : f32
  }, (cc, cc)) %all : !mdh.mda<6x20, f32, f32, f32> -> !mdh.mda<6x20, f32>
  %y = mdh.out_view (i, j) %scaled -> (y = %y_init[i, j] : tensor<6x20xf32>)
      : !mdh.mda<6x20, f32>
  return %y : tensor<6x20xf32>
}
