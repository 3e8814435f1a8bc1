// Updates its argument, which the caller's memory must not show.
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = mdh.compute (i = %n)
    out_view(y = %x[i] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = arith.addf %a, %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %y : tensor<?xf32>
}
