func.func @scan(%x: tensor<8192xf16>) -> tensor<8192xf16> {
  %init = tensor.empty() : tensor<8192xf16>
  %y = mdh.compute (i = 8192)
    out_view(y = %init[i] : tensor<8192xf16>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : tensor<8192xf16>)
  return %y : tensor<8192xf16>
}
