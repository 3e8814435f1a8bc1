// Outputs that are unused, and components that no output needs.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// The whole operation.
// CHECK-LABEL: @all
// CHECK-NEXT: return
func.func @all(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  return
}

// A component that a user's operator looks at stays, though its output goes.
// CHECK-LABEL: @operator
// CHECK: %[[AT:.*]] = mdh.compute
// CHECK-NEXT: out_view(_, at = %{{.*}}[] : tensor<i64>)
// CHECK: combine wins commutative associative (%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: i64)
// CHECK: return %[[AT]] : tensor<i64>
func.func @operator(%x: tensor<8xf32>, %y: tensor<f32>, %at: tensor<i64>) -> tensor<i64> {
  %0:2 = mdh.compute (k = 8)
    out_view(y = %y[] : tensor<f32>, at = %at[] : tensor<i64>)
    md_hom((%a: f32) {
      %k = mdh.index 0 : index
      %k64 = arith.index_cast %k : index to i64
      mdh.yield %a, %k64 : f32, i64
    }, (pw(wins)))
    inp_view(x = %x[k] : tensor<8xf32>)
    combine wins commutative associative (%a: f32, %i: i64, %b: f32, %j: i64) {
      %is_more = arith.cmpf ogt, %a, %b : f32
      %c = arith.select %is_more, %a, %b : f32
      %k = arith.select %is_more, %i, %j : i64
      mdh.yield %c, %k : f32, i64
    }
  return %0#1 : tensor<i64>
}

// Incoming carries lose the component, outgoing ones go if they are unused.
// CHECK-LABEL: @carries
// CHECK:      %[[Y:.*]] = mdh.compute (k = 8)
// CHECK-NEXT:   out_view(y = %{{.*}}[] : tensor<i32>)
// CHECK-NEXT:   md_hom(id, (pw(addi)))
// CHECK-NEXT:   inp_view(x = %{{.*}}[k] : tensor<8xi32>)
// CHECK-NEXT:   carry k (d = %{{.*}}[] : tensor<i32>)
// CHECK-NEXT: return %[[Y]]
func.func @carries(%x: tensor<8xi32>, %y: tensor<i32>, %c: tensor<i8>) -> tensor<i32> {
  %0:3 = mdh.compute (k = 8)
    out_view(_, y = %y[] : tensor<i32>)
    md_hom((%a: i32) {
      %b = arith.trunci %a : i32 to i8
      mdh.yield %b, %a : i8, i32
    }, (pw(maxsi, addi)))
    inp_view(x = %x[k] : tensor<8xi32>)
    carry k (c = %c[] : tensor<i8>, d = %y[] : tensor<i32>)
      -> (e = %c[] : tensor<i8>, f = %y[] : tensor<i32>)
  return %0#0 : tensor<i32>
}

// One component of an outgoing carry is used: all of it stays.
// CHECK-LABEL: @carried_out
// CHECK: mdh.compute
// CHECK: out_view(y = %{{.*}}[] : tensor<i8>)
// CHECK: -> (e = %{{.*}}[] : tensor<i8>, f = %{{.*}}[] : tensor<i32>)
func.func @carried_out(%x: tensor<8xi32>, %y: tensor<i32>, %c: tensor<i8>) -> (tensor<i8>, tensor<i32>) {
  %0:3 = mdh.compute (k = 8)
    out_view(y = %c[] : tensor<i8>)
    md_hom((%a: i32) {
      %b = arith.trunci %a : i32 to i8
      mdh.yield %b, %a : i8, i32
    }, (pw(maxsi, addi)))
    inp_view(x = %x[k] : tensor<8xi32>)
    carry k (c = %c[] : tensor<i8>, d = %y[] : tensor<i32>)
      -> (e = %c[] : tensor<i8>, f = %y[] : tensor<i32>)
  return %0#0, %0#2 : tensor<i8>, tensor<i32>
}

// Memrefs are written whether or not anybody is seen to read them.
// CHECK-LABEL: @memrefs
// CHECK: out_view(a = %{{.*}}[i] : memref<8xf32>, b = %{{.*}}[i] : memref<8xf32>)
func.func @memrefs(%x: memref<8xf32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(a = %a[i] : memref<8xf32>, b = %b[i] : memref<8xf32>)
    md_hom((%c: f32) {
      mdh.yield %c, %c, %c : f32, f32, f32
    }, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
