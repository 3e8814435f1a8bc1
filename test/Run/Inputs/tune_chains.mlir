// Chains of three computations, for searches.

// Sums of sums of sums, each of which a part of the next needs in parts.
func.func @nested(%x: tensor<26x40x9xf32>, %z: tensor<26x7xf32>) -> tensor<26x7xf32> {
  %a_init = tensor.empty() : tensor<26x40xf32>
  %b_init = tensor.empty() : tensor<26xf32>
  %c_init = tensor.empty() : tensor<26x7xf32>
  %a = mdh.compute (i = 26, j = 40, k = 9)
    out_view(a = %a_init[i, j] : tensor<26x40xf32>)
    md_hom(id, (cc, cc, pw(addf)))
    inp_view(x = %x[i, j, k] : tensor<26x40x9xf32>)
  %b = mdh.compute (i = 26, j = 40)
    out_view(b = %b_init[i] : tensor<26xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(a = %a[i, j][i, j] : tensor<26x40xf32>)
  %c = mdh.compute (i = 26, m = 7)
    out_view(c = %c_init[i, m] : tensor<26x7xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(b = %b[i] : tensor<26xf32>, z = %z[i, m] : tensor<26x7xf32>)
  return %c : tensor<26x7xf32>
}

// A sum that is read behind its consumer, too, and is a result.
func.func @kept(%x: tensor<26x37xf32>) -> (tensor<26xf32>, tensor<26x37xf32>, tensor<26xf32>) {
  %s_init = tensor.empty() : tensor<26xf32>
  %y_init = tensor.empty() : tensor<26x37xf32>
  %z_init = tensor.empty() : tensor<26xf32>
  %s = mdh.compute (i = 26, j = 37)
    out_view(s = %s_init[i] : tensor<26xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : tensor<26x37xf32>)
  %y = mdh.compute (i = 26, j = 37)
    out_view(y = %y_init[i, j] : tensor<26x37xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, j] : tensor<26x37xf32>, s = %s[i] : tensor<26xf32>)
  %z = mdh.compute (i = 26, j = 37)
    out_view(z = %z_init[i] : tensor<26xf32>)
    md_hom(addf, (cc, pw(maximumf)))
    inp_view(s = %s[i] : tensor<26xf32>, y = %y[i, j] : tensor<26x37xf32>)
  return %s, %y, %z : tensor<26xf32>, tensor<26x37xf32>, tensor<26xf32>
}
