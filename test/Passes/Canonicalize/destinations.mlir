// What is computed only to be copied elsewhere, is computed there.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// A sum, whose elements go to every second place of another tensor, in the other order of axes.
// CHECK-LABEL: func.func @placed(
// CHECK-SAME:    %[[X:.*]]: tensor<4x6x5xf32>, %[[ALL:.*]]: tensor<9x9xf32>)
// CHECK-NOT:   tensor.empty
// CHECK:       mdh.compute (i = 4, j = 6, k = 5)
// CHECK-NEXT:    out_view(all = %[[ALL]][j, i * 2 + 1] : tensor<9x9xf32>)
// CHECK-NEXT:    md_hom(id, (cc, cc, pw(addf)))
// CHECK-NOT:   mdh.compute
// CHECK:       return
func.func @placed(%x: tensor<4x6x5xf32>, %all: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %s = mdh.compute (i = 4, j = 6, k = 5)
    out_view(s = %e[i, j] : tensor<4x6xf32>)
    md_hom(id, (cc, cc, pw(addf)))
    inp_view(x = %x[i, j, k] : tensor<4x6x5xf32>)
  %z = mdh.compute (a = 4, b = 6)
    out_view(all = %all[b, 2 * a + 1] : tensor<9x9xf32>)
    md_hom(id, (cc, cc))
    inp_view(s = %s[a, b] : tensor<4x6xf32>)
  return %z : tensor<9x9xf32>
}

// What is read elsewhere too stays where it is; so does what starts from something, or reads the destination,
// which could not be in place.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-6: mdh.compute
// CHECK:       return
func.func @stays(%x: tensor<4x5xf32>, %all: tensor<9xf32>, %first: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %s = mdh.compute (i = 4, k = 5)
    out_view(s = %e[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<4x5xf32>)
  %a = mdh.compute (i = 4)
    out_view(a = %all[i] : tensor<9xf32>)
    md_hom(id, (cc))
    inp_view(s = %s[i] : tensor<4xf32>)
  %t = mdh.compute (i = 4, k = 5)
    out_view(t = %first[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<4x5xf32>)
    carry k (before = %first[i] : tensor<4xf32>)
  %b = mdh.compute (i = 4)
    out_view(b = %all[i] : tensor<9xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[i] : tensor<4xf32>)
  %u = mdh.compute (i = 4, k = 5)
    out_view(u = %e[i] : tensor<4xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<4x5xf32>, all = %all[k] : tensor<9xf32>)
  %c = mdh.compute (i = 4)
    out_view(c = %all[2 * i] : tensor<9xf32>)
    md_hom(id, (cc))
    inp_view(u = %u[i] : tensor<4xf32>)
  return %s, %a, %b, %c : tensor<4xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
}
