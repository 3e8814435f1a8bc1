// Padding values that are never read.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @one_of_two
// CHECK: inp_view(x = %{{.*}}[i][i - 1] pad(0.000000e+00 : f32) : memref<8xf32>, z = %{{.*}}[7 - i] : memref<8xf32>)
func.func @one_of_two(%x: memref<8xf32>, %z: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %0 = arith.addf %a, %b : f32
      %1 = arith.addf %0, %c : f32
      mdh.yield %1 : f32
    }, (cc))
    inp_view(x = %x[i][i - 1] pad(0.0 : f32) : memref<8xf32>,
             z = %z[7 - i] pad(1.0 : f32) : memref<8xf32>)
  return
}

// The buffer's size, the domain's, or the origin are not known.
// CHECK-LABEL: @unknown
// CHECK: pad(
// CHECK: pad(
// CHECK: pad(
func.func @unknown(%x: memref<?xf32>, %z: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] pad(0.0 : f32) : memref<?xf32>)
  mdh.compute (i = 4, k = %n)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(z = %z[k] pad(0.0 : f32) : memref<8xf32>)
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(z = %z[i] origin(%n) pad(0.0 : f32) : memref<8xf32>)
  return
}
