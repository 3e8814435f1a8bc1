// y[i, j] = sqrt(x[i, j]) / s[i], with s[i] the sum of sqrt(x[i, j]) over j.
func.func @roots(%x: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %s_init = tensor.empty(%m) : tensor<?xf32>
  %y_init = tensor.empty(%m, %n) : tensor<?x?xf32>
  %s = mdh.compute (i = %m, j = %n)
    out_view(s = %s_init[i] : tensor<?xf32>)
    md_hom((%x_ij: f32) {
      %r = math.sqrt %x_ij : f32
      mdh.yield %r : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : tensor<?x?xf32>)
  %y = mdh.compute (i = %m, j = %n)
    out_view(y = %y_init[i, j] : tensor<?x?xf32>)
    md_hom((%x_ij: f32, %s_i: f32) {
      %r = math.sqrt %x_ij : f32
      %q = arith.divf %r, %s_i : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : tensor<?x?xf32>, s = %s[i] : tensor<?xf32>)
  return %y : tensor<?x?xf32>
}
