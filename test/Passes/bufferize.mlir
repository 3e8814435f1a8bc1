// What bufferization puts in one memory, the rules for memrefs allow.
//
// RUN: mdh-opt %s --mdh-bufferize | FileCheck %s

// A tensor without a value is read elsewhere than it is written: there is nothing to copy, but
// memrefs differ.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: %[[NONE:.*]] = memref.alloc() : memref<8xf32>
// CHECK: out_view(y = %[[Y]][i] : memref<8xf32>)
// CHECK: carry i (none = %[[NONE]][0] : memref<8xf32>)
// CHECK-NOT: memref.copy
func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %no = arith.constant false
  %y = tensor.empty() : tensor<8xf32>
  %z = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : tensor<8xf32>)
    carry i (none = %y[0] : tensor<8xf32>) valid %no
  return %z : tensor<8xf32>
}

// The same with an input, and a size that is known at run time.
// CHECK-LABEL: func.func @nothing_twice(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[Y:.*]]: memref<?xf32>)
// CHECK: %[[NONE:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: inp_view(y = %[[NONE]][7 - i] pad(0.000000e+00 : f32)
func.func @nothing_twice(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %y = tensor.empty(%n) : tensor<?xf32>
  %z = mdh.compute (i = %n)
    out_view(z = %y[i] : tensor<?xf32>)
    md_hom(addf, (cc))
    inp_view(y = %y[7 - i] pad(0.0 : f32) : tensor<?xf32>, x = %x[i] : tensor<?xf32>)
  return %z : tensor<?xf32>
}

// A carry becomes the next one where it is.
// CHECK-LABEL: func.func @carried(
// CHECK-SAME: %{{.*}}: memref<4x8xf32>, %[[C:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4x8xf32>, %{{.*}}: memref<4xf32>)
// CHECK-NOT: memref.alloc
// CHECK: carry j (before = %[[C]][i] : memref<4xf32>) -> (after = %[[C]][i] : memref<4xf32>)
func.func @carried(%x: tensor<4x8xf32>, %c: tensor<4xf32>)
    -> (tensor<4x8xf32>, tensor<4xf32>) {
  %none = tensor.empty() : tensor<4x8xf32>
  %y, %after = mdh.compute (i = 4, j = 8)
    out_view(y = %none[i, j] : tensor<4x8xf32>)
    md_hom(id, (cc, ps(addf)))
    inp_view(x = %x[i, j] : tensor<4x8xf32>)
    carry j (before = %c[i] : tensor<4xf32>) -> (after = %c[i] : tensor<4xf32>)
  return %y, %after : tensor<4x8xf32>, tensor<4xf32>
}

// Two outputs that start from one tensor are two memories, though each element is written alike.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>, %[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>)
// CHECK: out_view(a = %[[A]][i] : memref<8xf32>, b = %[[B]][i] : memref<8xf32>)
func.func @two(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a, %b = mdh.compute (i = 1 to 7)
    out_view(a = %y[i] : tensor<8xf32>, b = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i][i + 1] : tensor<8xf32>)
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// So are those that nothing reads, whose computation stays as it is for its schedule, and which
// upstream's analysis puts in one memory.
// CHECK-LABEL: func.func @unread(
// CHECK-SAME: %{{.*}}: memref<?x8xf32>, %{{.*}}: index, %[[C:.*]]: memref<?xf32>)
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CHECK: %[[B:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?xf32>
// CHECK-NOT: memref.copy
// CHECK: out_view(a = %[[A]][j] : memref<?xf32>, b = %[[B]][j] : memref<?xf32>, c = %[[C]][j] : memref<?xf32>)
func.func @unread(%x: tensor<?x8xf32>, %n: index) -> tensor<?xf32> {
  %none = tensor.empty(%n) : tensor<?xf32>
  %a, %b, %c = mdh.compute (j = %n, i = 8)
    out_view(a = %none[j] : tensor<?xf32>, b = %none[j] : tensor<?xf32>, c = %none[j] : tensor<?xf32>)
    md_hom((%v: f32) {
      mdh.yield %v, %v, %v : f32, f32, f32
    }, (cc, pw(addf, mulf, maximumf)))
    inp_view(x = %x[j, i] : tensor<?x8xf32>)
  return %c : tensor<?xf32>
}

// The tensor has no value still when its memory has one, which an earlier result is in.
// CHECK-LABEL: func.func @nothing_still(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: out_view(y = %[[Y]][i] : memref<8xf32>)
// CHECK: %[[NONE:.*]] = memref.alloc() : memref<8xf32>
// CHECK: out_view(z = %[[Y]][i] : memref<8xf32>)
// CHECK: carry i (none = %[[NONE]][5] : memref<8xf32>)
// CHECK-NOT: memref.copy
func.func @nothing_still(%x: tensor<8xf32>) -> tensor<8xf32> {
  %no = arith.constant false
  %none = tensor.empty() : tensor<8xf32>
  %y = mdh.compute (i = 0 to 4)
    out_view(y = %none[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[7 - i] : tensor<8xf32>)
  %z = mdh.compute (i = 4 to 8)
    out_view(z = %y[i] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : tensor<8xf32>)
    carry i (none = %none[5] : tensor<8xf32>) valid %no
  return %z : tensor<8xf32>
}
