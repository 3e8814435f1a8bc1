// Empty dimensions.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// An empty ps dimension, bounds the wrong way round; memrefs.
// CHECK-LABEL: @ps
// CHECK-NEXT: return
func.func @ps(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 5 to 3)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// That there are no points needs only the bounds.
// CHECK-LABEL: @step
// CHECK-NEXT: return
func.func @step(%x: memref<8xf32>, %y: memref<8xf32>, %s: index) {
  mdh.compute (i = 5 to 5 step %s)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// Several results, one of a carry of another dimension.
// CHECK-LABEL: @results
// CHECK-SAME: (%{{.*}}: tensor<8x5xf32>, %[[Y:.*]]: tensor<8xf32>, %[[D:.*]]: tensor<8xf32>)
// CHECK-NEXT: return %[[Y]], %[[D]]
func.func @results(%x: tensor<8x5xf32>, %y: tensor<8xf32>, %d: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = mdh.compute (i = 0, k = 5)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<8x5xf32>)
    carry k (c = %y[i] : tensor<8xf32>) -> (d = %d[i] : tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// An empty pw dimension gives the neutral element: that is no destination.
// CHECK-LABEL: @pw
// CHECK: mdh.compute
func.func @pw(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8, k = 0)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
  return
}

// An empty ps dimension carries out the carry that it received.
// CHECK-LABEL: @carries_out
// CHECK: mdh.compute
func.func @carries_out(%x: memref<8xf32>, %y: memref<8xf32>, %c: memref<f32>, %d: memref<f32>) {
  mdh.compute (i = 0)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : memref<8xf32>)
    carry i (c = %c[] : memref<f32>) -> (d = %d[] : memref<f32>)
  return
}

// Not known to be empty.
// CHECK-LABEL: @unknown
// CHECK: mdh.compute
func.func @unknown(%x: memref<8xf32>, %y: memref<8xf32>, %n: index) {
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// The same in a triple, whose view and homs go too.
// CHECK-LABEL: @triple
// CHECK-NEXT: return
func.func @triple(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  %mda = mdh.inp_view (i = 0, k = 5) (%x[i, k] : memref<8x5xf32>) : !mdh.mda<0x5, f32>
  %hom = mdh.hom(id, (cc, pw(addf))) %mda : !mdh.mda<0x5, f32> -> !mdh.mda<0x1, f32>
  mdh.out_view (i, k) %hom -> (%y[i] : memref<8xf32>) : !mdh.mda<0x1, f32>
  return
}
