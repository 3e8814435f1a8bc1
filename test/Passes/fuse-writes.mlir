// A producer that writes by shifted, reversed and strided index functions: the write is inverted,
// and the consumer must read nothing that it leaves out.
//
// RUN: mdh-opt %s --mdh-fuse --canonicalize --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed /expected-remark/d %s | mdh-opt --canonicalize --split-input-file | FileCheck %s

// The producer's index is 9 - j: in its reads and where its code asks for it.
// CHECK-LABEL: @reversed
// CHECK: mdh.compute (j = 8)
// CHECK-DAG: %[[nine:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[j:.*]] = mdh.index 0
// CHECK: arith.subi %[[nine]], %[[j]] : index
// CHECK: inp_view(x = %{{.*}}[7 - j] : tensor<8xi64>)
// CHECK-NOT: mdh.compute
func.func @reversed(%x: tensor<8xi64>, %y: tensor<8xi64>) -> tensor<8xi64> {
  %p = mdh.compute (i = 2 to 10)
    out_view(e = %y[9 - i] : tensor<8xi64>)
    md_hom((%a: i64) {
      %i = mdh.index 0 : index
      %b = arith.index_cast %i : index to i64
      %c = arith.muli %a, %b : i64
      mdh.yield %c : i64
    }, (cc))
    inp_view(x = %x[i - 2] : tensor<8xi64>)
  %0 = mdh.compute (j = 8)
    out_view(y = %y[j] : tensor<8xi64>)
    md_hom(id, (ps(addi)))
    inp_view(p = %p[j] : tensor<8xi64>)
  return %0 : tensor<8xi64>
}

// -----
// Shifted, of a size that is not known; the domains end at the same sum.
// CHECK-LABEL: @shifted
// CHECK: mdh.compute (j = 1 to %{{.*}})
// CHECK: inp_view(x = %{{.*}}[j - 1] : tensor<?xf32>)
// CHECK-NOT: mdh.compute
func.func @shifted(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %m = arith.addi %one, %n : index
  %p = mdh.compute (i = %n)
    out_view(e = %y[i + 1] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %0 = mdh.compute (j = 1 to %m)
    out_view(y = %y[j] : tensor<?xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[j] : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// -----
// The same with one more element at either end.
// CHECK-LABEL: @one_more
// CHECK-COUNT-3: = mdh.compute
func.func @one_more(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %m = arith.addi %n, %one : index
  %l = arith.addi %n, %two : index
  %p = mdh.compute (i = %n)
    out_view(e = %y[i + 1] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  // expected-remark @+1 {{input 'p' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'i')}}
  %0 = mdh.compute (j = 0 to %m)
    out_view(y = %y[j] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(p = %p[j] : tensor<?xf32>)
  // expected-remark @+1 {{input 'q' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'j')}}
  %1 = mdh.compute (k = 0 to %l)
    out_view(y = %y[k] : tensor<?xf32>)
    md_hom(id, (ps(addf)))
    inp_view(q = %0[k] : tensor<?xf32>)
  return %1 : tensor<?xf32>
}

// -----
// A copy that is read three times, in a part of what it writes; its origin is a value.
// CHECK-LABEL: @stencil
// CHECK: mdh.compute (j = 1 to %{{.*}})
// CHECK: inp_view(x = %{{.*}}[j - 1][j][j + 1] : tensor<?xf32>)
// CHECK-NOT: mdh.compute
func.func @stencil(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index, %o: index) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %m = arith.subi %n, %one : index
  %o2 = arith.addi %o, %one : index
  %p = mdh.compute (i = %n)
    out_view(e = %y[i] origin(%o) : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %0 = mdh.compute (j = 1 to %m)
    out_view(y = %y[j] : tensor<?xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %d = arith.addf %a, %b : f32
      %e = arith.addf %d, %c : f32
      mdh.yield %e : f32
    }, (cc))
    inp_view(p = %p[j][j + 1][j + 2] origin(%o2) : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// -----
// Backwards, from a bound that is a value: both domains are -n + 1 to 1 when reversed.
// CHECK-LABEL: @backwards
// CHECK: mdh.compute (j = %{{.*}} to 1)
// CHECK: inp_view(x = %{{.*}}[-j] : tensor<?xf32>)
// CHECK-NOT: mdh.compute
func.func @backwards(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %one = arith.constant 1 : index
  %minus = arith.constant -1 : index
  %opposite = arith.muli %n, %minus : index
  %m = arith.subi %one, %n : index
  %l = arith.addi %opposite, %one : index
  %p = mdh.compute (i = %n)
    out_view(e = %y[-i] origin(%l) : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %0 = mdh.compute (j = %m to 1)
    out_view(y = %y[j] origin(%m) : tensor<?xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[j] origin(%m) : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// -----
// Every second element is written, and only those are read, in any order.
// CHECK-LABEL: @strided
// CHECK: inp_view(x = %{{.*}}[7 - j] : tensor<8xf32>)
// CHECK-NOT: mdh.compute
func.func @strided(%x: tensor<8xf32>, %y: tensor<16xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %p = mdh.compute (i = 8)
    out_view(e = %y[2 * i + 1] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %0 = mdh.compute (j = 8)
    out_view(z = %z[j] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[15 - 2 * j] : tensor<16xf32>)
  return %0 : tensor<8xf32>
}

// -----
// CHECK-LABEL: @between
// CHECK-COUNT-3: = mdh.compute
func.func @between(%x: tensor<8xf32>, %y: tensor<16xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %p = mdh.compute (i = 8)
    out_view(e = %y[2 * i + 1] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %q = mdh.compute (i = 8)
    out_view(e = %y[2 * i] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  // expected-remark @+2 {{input 'p' is not fused with its producer: its producer writes it at '2 * i + 1' in axis 0, and it is not known to be read only there}}
  // expected-remark @+1 {{input 'q' is not fused with its producer: its producer writes it at '2 * i' in axis 0, and it is not known to be read only there}}
  %0 = mdh.compute (j = 8)
    out_view(z = %z[j] : tensor<8xf32>)
    md_hom(addf, (cc))
    inp_view(p = %p[2 * j] : tensor<16xf32>, q = %q[j] : tensor<16xf32>)
  return %0 : tensor<8xf32>
}

// -----
// A domain with steps: its points are written one further, in pairs, and read backwards.
// CHECK-LABEL: @pairs
// CHECK: mdh.compute (j = 1 to 12 step 4 width 2)
// CHECK: inp_view(x = %{{.*}}[10 - j] : tensor<16xf32>)
// CHECK-NOT: mdh.compute
func.func @pairs(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %p = mdh.compute (i = -1 to 13 step 4 width 2)
    out_view(e = %y[i + 1] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i + 1] : tensor<16xf32>)
  %0 = mdh.compute (j = 1 to 12 step 4 width 2)
    out_view(y = %y[j] : tensor<16xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[10 - j] : tensor<16xf32>)
  return %0 : tensor<16xf32>
}

// -----
// The same, but the pairs do not meet; and one whose steps are finer.
// CHECK-LABEL: @off_grid
// CHECK-COUNT-3: = mdh.compute
func.func @off_grid(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %p = mdh.compute (i = -1 to 13 step 4 width 2)
    out_view(e = %y[i + 1] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i + 1] : tensor<16xf32>)
  // expected-remark @+1 {{input 'p' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'i')}}
  %0 = mdh.compute (j = 1 to 12 step 4 width 2)
    out_view(y = %y[j] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(p = %p[11 - j] : tensor<16xf32>)
  // expected-remark @+1 {{input 'q' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'j')}}
  %1 = mdh.compute (k = 1 to 12 step 2)
    out_view(y = %y[k] : tensor<16xf32>)
    md_hom(id, (ps(addf)))
    inp_view(q = %0[k] : tensor<16xf32>)
  return %1 : tensor<16xf32>
}

// -----
// An axis of one element, where that one is read; and one where another is.
// CHECK-LABEL: @column
// CHECK: = mdh.compute
// CHECK: = mdh.compute
// CHECK: inp_view(x = %{{.*}}[i] : tensor<8xf32>
// CHECK-NOT: = mdh.compute
func.func @column(%x: tensor<8xf32>, %y: tensor<8x2xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %p = mdh.compute (i = 8)
    out_view(e = %y[i, 1] : tensor<8x2xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %q = mdh.compute (i = 8)
    out_view(e = %y[i, 1] : tensor<8x2xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  // expected-remark @+1 {{input 'q' is not fused with its producer: its producer writes it at '1' only in axis 1, and it is not known to be read only there}}
  %0 = mdh.compute (i = 8)
    out_view(z = %z[i] : tensor<8xf32>)
    md_hom(addf, (cc))
    inp_view(p = %p[i, 1] : tensor<8x2xf32>, q = %q[i, 0] : tensor<8x2xf32>)
  return %0 : tensor<8xf32>
}

// -----
// Index functions that are not inverted; what a dimension does not appear in is written twice.
// CHECK-LABEL: @no_inverse
// CHECK-COUNT-3: = mdh.compute
func.func @no_inverse(%x: tensor<4x4xf32>, %y: tensor<7x4xf32>, %z: tensor<16xf32>) -> tensor<16xf32> {
  %p = mdh.compute (i = 4, k = 4)
    out_view(e = %y[i + k, k] : tensor<7x4xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc, cc))
    inp_view(x = %x[i, k] : tensor<4x4xf32>)
  %q = mdh.compute (i = 16)
    out_view(e = %y[i floordiv 4, i mod 4] : tensor<7x4xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i floordiv 4, i mod 4] : tensor<4x4xf32>)
  // expected-remark @+2 {{input 'p' is not fused with its producer: its producer writes it at 'i + k' in axis 0: expected a number, or a dimension of its own, scaled and shifted}}
  // expected-remark @+1 {{input 'q' is not fused with its producer: its producer writes it at 'i floordiv 4' in axis 0: expected a number, or a dimension of its own, scaled and shifted}}
  %0 = mdh.compute (i = 4, k = 4)
    out_view(z = %z[4 * i + k] : tensor<16xf32>)
    md_hom(addf, (cc, cc))
    inp_view(p = %p[i + k, k] : tensor<7x4xf32>, q = %q[i, k] : tensor<7x4xf32>)
  return %0 : tensor<16xf32>
}
