// Known bounds, steps, widths, origins, valid bits and scalars.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @all_bounds
// CHECK: mdh.compute (i = 2 to 8 step 3 width 2, k = %{{.*}})
// CHECK: out_view(y = %{{.*}}[i] origin(2) : memref<6xf32>)
// CHECK: inp_view(x = %{{.*}}[i, k] origin(0, %{{.*}}) : memref<8x?xf32>)
func.func @all_bounds(%x: memref<8x?xf32>, %y: memref<6xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  mdh.compute (i = %c2 to %c8 step %c3 width %c2, k = %n)
    out_view(y = %y[i] origin(%c2) : memref<6xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] origin(%c0, %n) : memref<8x?xf32>)
  return
}

// A carry that is always there; one that never is stays as it is.
// CHECK-LABEL: @valid
// CHECK: carry k (c = %{{.*}}[] : memref<f32>){{$}}
// CHECK: carry k (c = %{{.*}}[] : memref<f32>) valid %false
func.func @valid(%x: memref<8xf32>, %y: memref<f32>, %c: memref<f32>) {
  %true = arith.constant true
  %false = arith.constant false
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
    carry k (c = %c[] : memref<f32>) valid %true
  mdh.compute (k = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[k] : memref<8xf32>)
    carry k (c = %c[] : memref<f32>) valid %false
  return
}

// A scalar that is read twice, next to one that is not known.
// CHECK-LABEL: @scalars
// CHECK:      md_hom((%[[X:.*]]: f32, %[[S:.*]]: f32) {
// CHECK-NEXT:   %[[CST:.*]] = arith.constant 2.0
// CHECK-NEXT:   %[[A:.*]] = arith.mulf %[[X]], %[[CST]]
// CHECK-NEXT:   %[[B:.*]] = arith.addf %[[A]], %[[S]]
// CHECK-NEXT:   %[[C:.*]] = arith.subf %[[B]], %[[CST]]
// CHECK:      inp_view(x = %{{.*}}[i] : memref<8xf32>, s = %{{.*}}[] : f32)
func.func @scalars(%x: memref<8xf32>, %s: f32, %y: memref<8xf32>) {
  %two = arith.constant 2.0 : f32
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32, %b: f32, %c: f32, %d: f32) {
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %p, %d : f32
      %r = arith.subf %q, %c : f32
      mdh.yield %r : f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>, two = %two[][] : f32, s = %s[] : f32)
  return
}

// A tensor of one value, but for what is read outside of it; a tensor of several.
// CHECK-LABEL: @splat
// CHECK-DAG:  %[[PADDED:.*]] = arith.constant dense<3>
// CHECK-DAG:  %[[SEVERAL:.*]] = arith.constant dense<[1, 2
// CHECK:      md_hom((%{{.*}}: i32, %{{.*}}: i32) {
// CHECK:        arith.constant 3 : i32
// CHECK:      inp_view(p = %[[PADDED]][i - 1] pad(0 : i32) : tensor<8xi32>, b = %[[SEVERAL]][i] : tensor<8xi32>)
func.func @splat(%y: tensor<8xi32>) -> tensor<8xi32> {
  %a = arith.constant dense<3> : tensor<8xi32>
  %b = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xi32>)
    md_hom((%c: i32, %d: i32, %e: i32) {
      %1 = arith.addi %c, %d : i32
      %2 = arith.muli %1, %e : i32
      mdh.yield %2 : i32
    }, (ps(addi)))
    inp_view(a = %a[7 - i] : tensor<8xi32>, p = %a[i - 1] pad(0 : i32) : tensor<8xi32>,
             b = %b[i] : tensor<8xi32>)
  return %0 : tensor<8xi32>
}

// A size that is wrong stays where it was written, for its message to be about what was written.
// CHECK-LABEL: @wrong
// CHECK: mdh.compute (i = %c9)
func.func @wrong(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c9 = arith.constant 9 : index
  mdh.compute (i = %c9)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
