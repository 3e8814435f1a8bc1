// RUN: mdh-opt %s --split-input-file --mdh-to-linalg=generic=true --verify-diagnostics | FileCheck %s
// RUN: mdh-opt %s --split-input-file --mdh-lower-to-linalg --verify-diagnostics | FileCheck %s --check-prefix NAMED
// RUN: mdh-opt %s --split-input-file --mdh-to-linalg --mdh-raise-linalg --canonicalize --cse --verify-diagnostics=only-expected \
// RUN:   | FileCheck %s --check-prefix AGAIN

// A destination starts from the neutral element; in and out again is the same computation.
// CHECK-DAG:   #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG:   #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @product
// CHECK:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:       %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<6x4xf32>)
// CHECK:       linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:    outs(%[[START]] : tensor<6x4xf32>)
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT:    %[[E:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addf %[[SUM]], %[[E]] : f32
// CHECK-NEXT:    linalg.yield %[[NEXT]] : f32
// NAMED-LABEL: func.func @product
// NAMED:       linalg.matmul
// AGAIN-LABEL: func.func @product
// AGAIN:       mdh.compute (i = 6, j = 4, k = 5)
// AGAIN-NEXT:    out_view(out = %{{.*}}[i, j] : tensor<6x4xf32>)
// AGAIN-NEXT:    md_hom(mulf, (cc, cc, pw(addf)))
// AGAIN-NEXT:    inp_view(in = %{{.*}}[i, k] : tensor<6x5xf32>, in_1 = %{{.*}}[k, j] : tensor<5x4xf32>)
// AGAIN-NEXT:  return
func.func @product(%a: tensor<6x5xf32>, %b: tensor<5x4xf32>, %c: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %d = mdh.compute (i = 6, j = 4, k = 5)
    out_view(d = %c[i, j] : tensor<6x4xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(a = %a[i, k] : tensor<6x5xf32>, b = %b[k, j] : tensor<5x4xf32>)
  return %d : tensor<6x4xf32>
}

// -----

// What is carried in is what the destination holds; the laws of an operator of one's own that raising knows need no
// word; an index stays one.
// CHECK-LABEL: func.func @largest
// CHECK-NOT:   linalg.fill
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%{{.*}} : memref<?xf32>) outs(%{{.*}}, %{{.*}} : memref<f32>, memref<index>)
// CHECK-NOT:     mdh.associative
// CHECK:       ^bb0(%[[X:.*]]: f32, %[[V:.*]]: f32, %[[AT:.*]]: index):
// CHECK-NEXT:    %[[I:.*]] = linalg.index 0 : index
// CHECK-NEXT:    %[[LESS:.*]] = arith.cmpf olt, %[[V]], %[[X]] : f32
// CHECK-NEXT:    %[[VALUE:.*]] = arith.select %[[LESS]], %[[X]], %[[V]] : f32
// CHECK-NEXT:    %[[INDEX:.*]] = arith.select %[[LESS]], %[[I]], %[[AT]] : index
// CHECK-NEXT:    linalg.yield %[[VALUE]], %[[INDEX]] : f32, index
// AGAIN-LABEL: func.func @largest
// AGAIN:       pw(select)
// AGAIN:       combine select associative
func.func @largest(%x: memref<?xf32>, %v: memref<f32>, %at: memref<index>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  mdh.compute (k = %n)
    out_view(v = %v[] : memref<f32>, at = %at[] : memref<index>)
    md_hom((%e: f32) {
      %i = mdh.index 0 : index
      mdh.yield %e, %i : f32, index
    }, (pw(first)))
    inp_view(x = %x[k] : memref<?xf32>)
    combine first associative (%a: f32, %p: index, %b: f32, %q: index) {
      %less = arith.cmpf olt, %a, %b : f32
      %value = arith.select %less, %b, %a : f32
      %index = arith.select %less, %q, %p : index
      mdh.yield %value, %index : f32, index
    }
    carry k (v_before = %v[] : memref<f32>, at_before = %at[] : memref<index>)
  return
}

// -----

// linalg has no prefix-sums.
// CHECK-LABEL: func.func @prefixes
// CHECK:       mdh.compute
func.func @prefixes(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @+1 {{stays a computation: dimension 'i' is a prefix-sum, which linalg has no iterator for}}
  %z = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : tensor<8xf32>)
  return %z : tensor<8xf32>
}

// -----

// Elements that are only combined, by an operator of one's own too.
// NAMED-LABEL: func.func @sums
// NAMED:       linalg.reduce {{.*}} ins(%{{.*}} : tensor<5x6x4xf32>) outs(%{{.*}} : tensor<6xf32>) dimensions = [0, 2]
// NAMED:       linalg.reduce ins(%{{.*}} : tensor<8xi32>) outs(%{{.*}} : tensor<i32>) dimensions = [0] {mdh.associative = "{{.*}}"}
// AGAIN-LABEL: func.func @sums
// AGAIN:       pw(addf)
// AGAIN:       associative
func.func @sums(%x: tensor<5x6x4xf32>, %y: tensor<6xf32>, %z: tensor<8xi32>, %w: tensor<i32>) -> (tensor<6xf32>, tensor<i32>) {
  %s = mdh.compute (i = 5, j = 6, k = 4)
    out_view(s = %y[j] : tensor<6xf32>)
    md_hom(id, (pw(addf), cc, pw(addf)))
    inp_view(x = %x[i, j, k] : tensor<5x6x4xf32>)
  %l = mdh.compute (k = 8)
    out_view(l = %w[] : tensor<i32>)
    md_hom(id, (pw(last)))
    inp_view(z = %z[k] : tensor<8xi32>)
    combine last associative (%a: i32, %b: i32) {
      %zero = arith.constant 0 : i32
      %is = arith.cmpi sgt, %b, %zero : i32
      %c = arith.select %is, %b, %a : i32
      mdh.yield %c : i32
    }
    carry k (l_before = %w[] : tensor<i32>)
  return %s, %l : tensor<6xf32>, tensor<i32>
}

// -----

// A factor that lacks a loop; what is a contraction only, if by the order of its loops, which is kept.
// NAMED-LABEL: func.func @products
// NAMED:       linalg.contract indexing_maps
// NAMED-SAME:    ins(%arg0, %arg1 : tensor<5x6xf32>, tensor<4x5xf32>)
// NAMED:       linalg.batch_matmul indexing_maps
// NAMED:       linalg.contract indexing_maps
func.func @products(%a: tensor<5x6xf32>, %b: tensor<4x5xf32>, %c: tensor<4x6xf32>, %d: tensor<6x4x5xf32>,
                    %e: tensor<7x6xf32>, %f: tensor<4x5x7xf32>) -> (tensor<4x6xf32>, tensor<6x4x6xf32>, tensor<4x5x7xf32>) {
  %p = mdh.compute (k = 5, j = 6, i = 4)
    out_view(p = %c[i, j] : tensor<4x6xf32>)
    md_hom(mulf, (pw(addf), cc, cc))
    inp_view(a = %a[k, j] : tensor<5x6xf32>, b = %b[i, k] : tensor<4x5xf32>)
    carry k (p_before = %c[i, j] : tensor<4x6xf32>)
  %empty = tensor.empty() : tensor<6x4x6xf32>
  %q = mdh.compute (i = 6, j = 4, l = 6, k = 5)
    out_view(q = %empty[i, j, l] : tensor<6x4x6xf32>)
    md_hom(mulf, (cc, cc, cc, pw(addf)))
    inp_view(d = %d[i, j, k] : tensor<6x4x5xf32>, a = %a[k, l] : tensor<5x6xf32>)
  %r = mdh.compute (i = 4, j = 5, l = 7, k = 6)
    out_view(r = %f[i, j, l] : tensor<4x5x7xf32>)
    md_hom(mulf, (cc, cc, cc, pw(addf)))
    inp_view(d = %d[k, i, j] : tensor<6x4x5xf32>, e = %e[l, k] : tensor<7x6xf32>)
    carry k (r_before = %f[i, j, l] : tensor<4x5x7xf32>)
  return %p, %q, %r : tensor<4x6xf32>, tensor<6x4x6xf32>, tensor<4x5x7xf32>
}

// -----

// A part of a tensor is a slice of it: from a first point on, by a step, behind an origin; and so is a part
// that is written. In again, these are views.
// NAMED-LABEL: func.func @parts
// NAMED:       %[[X:.*]] = tensor.extract_slice %arg0[3, 0] [4, 8] [2, 1] : tensor<12x8xf32> to tensor<4x8xf32>
// NAMED:       %[[Y:.*]] = tensor.extract_slice %arg1[1, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
// NAMED:       %[[Z:.*]] = linalg.exp ins(%[[X]] : tensor<4x8xf32>) outs(%[[Y]] : tensor<4x8xf32>)
// NAMED:       tensor.insert_slice %[[Z]] into %arg1[1, 0] [4, 8] [1, 1]
// AGAIN-LABEL: func.func @parts
// AGAIN:       inp_view(in = %arg0[i * 2 + 3, j] : tensor<12x8xf32>)
func.func @parts(%x: tensor<12x8xf32>, %y: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %z = mdh.compute (i = 1 to 5, j = 8)
    out_view(z = %y[i, j] : tensor<6x8xf32>)
    md_hom((%e: f32) {
      %r = math.exp %e : f32
      mdh.yield %r : f32
    }, (cc, cc))
    inp_view(x = %x[2 * i + 4, j] origin(3, 0) : tensor<12x8xf32>)
  return %z : tensor<6x8xf32>
}

// -----

// Padding is a padded tensor. What is behind a bound that is known at run time only is, too.
// NAMED-LABEL: func.func @padded
// NAMED:       %[[P:.*]] = tensor.pad %arg0 low[1] high[1]
// NAMED:         tensor.yield %{{.*}} : f32
// NAMED:       linalg.conv_1d ins(%[[P]], %arg1 : tensor<10xf32>, tensor<3xf32>)
// AGAIN-LABEL: func.func @padded
// AGAIN:       inp_view(in = %arg0[i + k - 1] pad(0.{{0*}}{{.*}}) : tensor<8xf32>
func.func @padded(%x: tensor<8xf32>, %w: tensor<3xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %z = mdh.compute (i = 8, k = 3)
    out_view(z = %y[i] : tensor<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(x = %x[i + k - 1] pad(0.0 : f32) : tensor<8xf32>, w = %w[k] : tensor<3xf32>)
  return %z : tensor<8xf32>
}

// -----

// A dimension whose extent no buffer has: that of the window of a pooling, in memory too.
// NAMED-LABEL: func.func @windows
// NAMED:       %[[W:.*]] = tensor.empty() : tensor<3xf32>
// NAMED:       linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
// NAMED-SAME:    ins(%arg0, %[[W]] : tensor<1x9x4xf32>, tensor<3xf32>)
// NAMED:       %[[M:.*]] = memref.alloc() : memref<3xf32>
// NAMED:       linalg.generic
// NAMED-SAME:    ins(%arg2, %[[M]] : memref<10xf32>, memref<3xf32>)
// NAMED:       memref.dealloc %[[M]]
// AGAIN-LABEL: func.func @windows
// AGAIN:       mdh.compute (j = 4, l = 4, k = 3)
// AGAIN-NOT:   memref.alloc
func.func @windows(%x: tensor<1x9x4xf32>, %y: tensor<1x4x4xf32>, %m: memref<10xf32>, %n: memref<8xf32>) -> tensor<1x4x4xf32> {
  %z = mdh.compute (i = 1, j = 4, l = 4, k = 3)
    out_view(z = %y[i, j, l] : tensor<1x4x4xf32>)
    md_hom(id, (cc, cc, cc, pw(maximumf)))
    inp_view(x = %x[i, 2 * j + k, l] : tensor<1x9x4xf32>)
  mdh.compute (i = 8, k = 3)
    out_view(n = %n[i] : memref<8xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(m = %m[i + k] : memref<10xf32>)
  return %z : tensor<1x4x4xf32>
}

// -----

// What is carried in from elsewhere is what it starts from.
// NAMED-LABEL: func.func @started
// NAMED:       linalg.reduce {{.*}} ins(%arg0 : tensor<4x5xf32>) outs(%arg1 : tensor<4xf32>)
// NAMED:       %[[START:.*]] = tensor.extract_slice %arg2[1] [4] [2] : tensor<9xf32> to tensor<4xf32>
// NAMED:       linalg.reduce {{.*}} ins(%arg0 : tensor<4x5xf32>) outs(%[[START]] : tensor<4xf32>)
func.func @started(%x: tensor<4x5xf32>, %first: tensor<4xf32>, %longer: tensor<9xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %s = mdh.compute (i = 4, k = 5)
    out_view(s = %y[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<4x5xf32>)
    carry k (first = %first[i] : tensor<4xf32>)
  %t = mdh.compute (i = 4, k = 5)
    out_view(t = %y[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<4x5xf32>)
    carry k (first = %longer[2 * i + 1] : tensor<9xf32>)
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// -----

// Parts of memory are views of it.
// NAMED-LABEL: func.func @memory
// NAMED:       %[[X:.*]] = memref.subview %arg0[%{{.*}}, 1] [4, 3] [1, 2] : memref<?x8xf32> to memref<4x3xf32, strided<[8, 2], offset: ?>>
// NAMED:       %[[Y:.*]] = memref.subview %arg1[2, 0] [4, 3] [1, 1] : memref<6x3xf32> to memref<4x3xf32, strided<[3, 1], offset: 6>>
// NAMED:       linalg.copy ins(%[[X]] : {{.*}}) outs(%[[Y]] : {{.*}})
func.func @memory(%x: memref<?x8xf32>, %y: memref<6x3xf32>, %o: index) {
  mdh.compute (i = 4, j = 3)
    out_view(y = %y[i + 2, j] : memref<6x3xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, 2 * j + 1] origin(%o, 0) : memref<?x8xf32>)
  return
}

// -----

// What linalg has no words for.
func.func @stays(%x: memref<8xf32>, %y: memref<8xf32>, %n: memref<f32>, %i: memref<index>) {
  // expected-remark @+1 {{stays a computation: 'x': it is padded, and memory has nothing around it: expected a tensor}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i - 1] pad(0.0 : f32) : memref<8xf32>)
  // expected-remark @+1 {{stays a computation: dimension 'i' has several points in each step, which linalg has no loop for: expected a width of 1}}
  mdh.compute (i = 8 step 4 width 2)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  // expected-remark @+1 {{stays a computation: its operator has no neutral element to start from}}
  mdh.compute (k = 8)
    out_view(n = %n[] : memref<f32>)
    md_hom(id, (pw(last)))
    inp_view(x = %x[k] : memref<8xf32>)
    combine last associative (%a: f32, %b: f32) {
      mdh.yield %b : f32
    }
  return
}

// -----

// Of a dimension without points linalg's own verifier would ask for the element at -1, which is beyond the buffer's end where
// it is read backwards.
func.func @empty(%x: tensor<6xf32>, %z: tensor<6xf32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-remark @+1 {{stays a computation: 'x': an index of it is computed from that of a dimension without points, where linalg asks for the element at -1: expected the dimension's index alone}}
  %r = mdh.compute (k = 0)
    out_view(y = %y[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[5 - k] : tensor<6xf32>)
  // expected-remark @+1 {{stays a computation: 'x': an index of it is computed from that of a dimension without points, where linalg asks for the element at -1: expected the dimension's index alone}}
  %s = mdh.compute (k = 0, i = 3)
    out_view(y = %y[] : tensor<f32>)
    md_hom(mulf, (pw(addf), pw(addf)))
    inp_view(x = %x[k + i] pad(0.0 : f32) : tensor<6xf32>, z = %z[k] : tensor<6xf32>)
  return %r, %s : tensor<f32>, tensor<f32>
}

// -----

// It does not reverse what it has begun with: the operation that stays is alone.
// NAMED-LABEL: func.func @alone
// NAMED-NOT:   tensor.extract_slice
// NAMED:       mdh.compute
func.func @alone(%x: tensor<9xf32>, %y: tensor<f32>) -> tensor<f32> {
  // expected-remark @+1 {{stays a computation: its operator has no neutral element to start from}}
  %n = mdh.compute (k = 8)
    out_view(n = %y[] : tensor<f32>)
    md_hom(id, (pw(last)))
    inp_view(x = %x[k + 1] : tensor<9xf32>)
    combine last associative (%a: f32, %b: f32) {
      mdh.yield %b : f32
    }
  return %n : tensor<f32>
}

// -----

// A computation that is malformed is refused before.
func.func @beyond(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{reads input 'x' at 1..9 in axis 0}}
  %z = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 1] : tensor<8xf32>)
  return %z : tensor<8xf32>
}

// -----

// A product of conjugates: the law is one of the operator, not of all that the body does, and raising finds the
// operator again.
// CHECK-LABEL: func.func @conjugates
// CHECK:       linalg.generic {{.*}} attrs = {{.*}}{mdh.associative = "{{.*}}"}
// AGAIN-LABEL: func.func @conjugates
// AGAIN:       md_hom((%{{.*}}: i64, %[[B:.*]]: i64) {
// AGAIN:         %[[C:.*]] = arith.subi %{{.*}}, %[[B]] : i64
// AGAIN-NEXT:    mdh.yield %{{.*}}, %[[C]] : i64, i64
// AGAIN:       combine merge associative (%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64) {
// AGAIN-NEXT:    arith.muli
func.func @conjugates(%re: tensor<5xi64>, %im: tensor<5xi64>) -> (tensor<i64>, tensor<i64>) {
  %e = tensor.empty() : tensor<i64>
  %r, %i = mdh.compute (k = 5)
    out_view(r = %e[] : tensor<i64>, i = %e[] : tensor<i64>)
    md_hom((%a: i64, %b: i64) {
      %zero = arith.constant 0 : i64
      %c = arith.subi %zero, %b : i64
      mdh.yield %a, %c : i64, i64
    }, (pw(times)))
    inp_view(re = %re[k] : tensor<5xi64>, im = %im[k] : tensor<5xi64>)
    combine times associative neutral(1 : i64, 0 : i64) (%a0: i64, %b0: i64, %a1: i64, %b1: i64) {
      %p = arith.muli %a0, %a1 : i64
      %q = arith.muli %b0, %b1 : i64
      %x = arith.subi %p, %q : i64
      %s = arith.muli %a0, %b1 : i64
      %t = arith.muli %b0, %a1 : i64
      %y = arith.addi %s, %t : i64
      mdh.yield %x, %y : i64, i64
    }
  return %r, %i : tensor<i64>, tensor<i64>
}

// -----

// One value for both components: a body does not show which is which.
// CHECK-LABEL: func.func @squares
// CHECK:       mdh.compute
func.func @squares(%v: tensor<5xi64>) -> (tensor<i64>, tensor<i64>) {
  %e = tensor.empty() : tensor<i64>
  // expected-remark @+1 {{stays a computation: its body as linalg does not show what the elements are that its operator combines: expected one value for each component, used as it is by the operator alone, or a computation before it that makes the elements}}
  %r, %i = mdh.compute (k = 5)
    out_view(r = %e[] : tensor<i64>, i = %e[] : tensor<i64>)
    md_hom((%a: i64) {
      mdh.yield %a, %a : i64, i64
    }, (pw(times)))
    inp_view(x = %v[k] : tensor<5xi64>)
    combine times associative neutral(1 : i64, 0 : i64) (%a0: i64, %b0: i64, %a1: i64, %b1: i64) {
      %p = arith.muli %a0, %a1 : i64
      %q = arith.muli %b0, %b1 : i64
      %u = arith.subi %p, %q : i64
      %s = arith.muli %a0, %b1 : i64
      %t = arith.muli %b0, %a1 : i64
      %y = arith.addi %s, %t : i64
      mdh.yield %u, %y : i64, i64
    }
  return %r, %i : tensor<i64>, tensor<i64>
}

// -----

// Beside an operator without known laws a sum is of the same operator, whole.
// AGAIN-LABEL: func.func @beside
// AGAIN:       combine merge associative (%[[A0:.*]]: i32, %[[A1:.*]]: i32, %[[B0:.*]]: i32, %[[B1:.*]]: i32) {
// AGAIN:         arith.addi %[[A0]], %[[B0]] : i32
func.func @beside(%x: tensor<7x6xi32>, %y: tensor<6xi32>, %e: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {
  %r0, %r1 = mdh.compute (i = 7, k = 6)
    out_view(r0 = %e[i] : tensor<7xi32>, r1 = %e[i] : tensor<7xi32>)
    md_hom(id, (cc, pw(op)))
    inp_view(x = %x[i, k] : tensor<7x6xi32>, y = %y[k] : tensor<6xi32>)
    combine op associative neutral(-2 : i32, 0 : i32) (%a0: i32, %a1: i32, %b0: i32, %b1: i32) {
      %s = arith.addi %a0, %b0 : i32
      %two = arith.constant 2 : i32
      %t = arith.addi %s, %two : i32
      %u = arith.addi %a1, %b1 : i32
      %v = arith.muli %a1, %b1 : i32
      %w = arith.addi %u, %v : i32
      mdh.yield %t, %w : i32, i32
    }
  return %r0, %r1 : tensor<7xi32>, tensor<7xi32>
}

// -----

// Where no axis of the destination is that of a loop, two iterations might write one element, as far as the sizes tell:
// it would not come back.
// CHECK-LABEL: func.func @halves
// CHECK:       mdh.compute
func.func @halves(%n: index, %s: tensor<i64>) -> tensor<1x?xi64> {
  %e = tensor.empty(%n) : tensor<1x?xi64>
  // expected-remark @+1 {{stays a computation: loop 0 has no axis of its destination to itself}}
  %r = mdh.compute (i = 2)
    out_view(r = %e[i floordiv 2, i mod 2] : tensor<1x?xi64>)
    md_hom(id, (cc))
    inp_view(s = %s[] : tensor<i64>)
  return %r : tensor<1x?xi64>
}

// -----

// A kept dimension of one point that no output has an index of is no loop, since linalg's verifier lets a parallel loop
// be no index of a destination, and raising does not.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT:   mdh.compute
func.func @reversed(%x: tensor<2xi64>, %c: tensor<1xi64>) -> tensor<i64> {
  %e = tensor.empty() : tensor<i64>
  %r = mdh.compute (i = 2, j = 1)
    out_view(r = %e[] : tensor<i64>)
    md_hom(id, (pw(addi), cc))
    inp_view(x = %x[i] : tensor<2xi64>)
    carry i (c = %c[-2 * j - 3] origin(-3) : tensor<1xi64>)
  return %r : tensor<i64>
}

// -----

// CHECK:       #[[COLUMN:.+]] = affine_map<(d0) -> (d0, 0)>
// CHECK-LABEL: func.func @column
// CHECK:       linalg.generic {indexing_maps = [#[[COLUMN]], #{{.+}}], iterator_types = ["reduction"]}
func.func @column(%x: tensor<2x1xi64>) -> tensor<i64> {
  %e = tensor.empty() : tensor<i64>
  %r = mdh.compute (i = 2, j = 1)
    out_view(r = %e[] : tensor<i64>)
    md_hom(id, (pw(addi), cc))
    inp_view(x = %x[i, j] : tensor<2x1xi64>)
  return %r : tensor<i64>
}

// -----

// CHECK-LABEL: func.func @unequal
// CHECK:       mdh.compute
func.func @unequal(%x: tensor<1xi64>) -> (tensor<1xi64>, tensor<i64>) {
  %e = tensor.empty() : tensor<1xi64>
  %f = tensor.empty() : tensor<i64>
  // expected-remark @+1 {{stays a computation: dimension 'i' is kept, and is no index of each output: expected one that all outputs are indexed by}}
  %r:2 = mdh.compute (i = 1)
    out_view(r = %e[i] : tensor<1xi64>, s = %f[] : tensor<i64>)
    md_hom((%a: i64) {
      mdh.yield %a, %a : i64, i64
    }, (cc))
    inp_view(x = %x[i] : tensor<1xi64>)
  return %r#0, %r#1 : tensor<1xi64>, tensor<i64>
}

// -----

// A copy of what is carried in needs the extents of its loops.
// CHECK-LABEL: func.func @woven
// CHECK:       mdh.compute
func.func @woven(%x: tensor<4x3x2xi64>, %c: tensor<6xi64>) -> tensor<6xi64> {
  %e = tensor.empty() : tensor<6xi64>
  // expected-remark @+1 {{stays a computation: carry 'c': it is copied by a loop that has no axis to itself}}
  %r = mdh.compute (k = 4, i = 3, j = 2)
    out_view(r = %e[2 * i + j] : tensor<6xi64>)
    md_hom(id, (pw(addi), cc, cc))
    inp_view(x = %x[k, i, j] : tensor<4x3x2xi64>)
    carry k (c = %c[2 * i + j] : tensor<6xi64>)
  return %r : tensor<6xi64>
}
