// Two functions: sizes of one are open.
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %init = tensor.empty(%n) : tensor<?xf32>
  %y = mdh.compute (i = %n)
    out_view(y = %init[i] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = arith.addf %a, %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %y : tensor<?xf32>
}
func.func @sum(%x: tensor<40x64xf32>) -> tensor<40xf32> {
  %init = tensor.empty() : tensor<40xf32>
  %y = mdh.compute (i = 40, k = 64)
    out_view(y = %init[i] : tensor<40xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<40x64xf32>)
  return %y : tensor<40xf32>
}
