// A schedule names dimensions and buffers: a computation that has one keeps them.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s
// RUN: mdh-opt %s --mdh-fuse --verify-diagnostics | FileCheck %s --check-prefix FUSE

// A dimension of one point.
// CHECK-LABEL: @unit_dims
// CHECK:       mdh.compute (i = 8, k = 1)
// CHECK:       schedule
func.func @unit_dims(%x: memref<8x1xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8, k = 1)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x1xf32>)
    schedule(#mdh.schedule<>)
  return
}

// The same input twice, one that nothing uses, and a constant.
// CHECK-LABEL: @inputs
// CHECK:       inp_view(a = %{{.*}}[i] : memref<8xf32>, b = %{{.*}}[i] : memref<8xf32>, c = %{{.*}}[i] : memref<8xf32>, d = %{{.*}}[] : f32)
func.func @inputs(%x: memref<8xf32>, %c: memref<8xf32>, %y: memref<8xf32>) {
  %d = arith.constant 2.0 : f32
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%p: f32, %q: f32, %r: f32, %s: f32) {
      %t = arith.addf %p, %q : f32
      %u = arith.mulf %t, %s : f32
      mdh.yield %u : f32
    }, (cc))
    inp_view(a = %x[i] : memref<8xf32>, b = %x[i] : memref<8xf32>, c = %c[i] : memref<8xf32>, d = %d[] : f32)
    schedule(#mdh.schedule<>)
  return
}

// An output that nothing uses.
// CHECK-LABEL: @outputs
// CHECK:       out_view(sum = %{{.*}}[] : tensor<f32>, max = %{{.*}}[] : tensor<f32>)
func.func @outputs(%x: tensor<8xf32>, %s: tensor<f32>, %m: tensor<f32>) -> tensor<f32> {
  %sum, %max = mdh.compute (k = 8)
    out_view(sum = %s[] : tensor<f32>, max = %m[] : tensor<f32>)
    md_hom((%e: f32) {
      mdh.yield %e, %e : f32, f32
    }, (pw(addf, maximumf)))
    inp_view(x = %x[k] : tensor<8xf32>)
    schedule(#mdh.schedule<>)
  return %max : tensor<f32>
}

// A component that nothing stores.
// CHECK-LABEL: @components
// CHECK:       out_view(_, max = %{{.*}}[] : tensor<f32>)
func.func @components(%x: tensor<8xf32>, %m: tensor<f32>) -> tensor<f32> {
  %max = mdh.compute (k = 8)
    out_view(_, max = %m[] : tensor<f32>)
    md_hom((%e: f32) {
      mdh.yield %e, %e : f32, f32
    }, (pw(addf, maximumf)))
    inp_view(x = %x[k] : tensor<8xf32>)
    schedule(#mdh.schedule<>)
  return %max : tensor<f32>
}

// A slice of a buffer becomes the buffer, under the same name; padding too.
// CHECK-LABEL: @views
// CHECK:       inp_view(s = %arg0[k + 2] : tensor<8xf32>)
// CHECK:       schedule(
func.func @views(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  %s = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %z = mdh.compute (k = 4)
    out_view(y = %y[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(s = %s[k] : tensor<4xf32>)
    schedule(#mdh.schedule<>)
  return %z : tensor<f32>
}

// CHECK-LABEL: @padded
// CHECK:       inp_view(p = %arg0[k - 1] pad(0.000000e+00 : f32) : tensor<8xf32>)
// CHECK:       schedule(
func.func @padded(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<10xf32>
  %z = mdh.compute (k = 10)
    out_view(y = %y[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(p = %p[k] : tensor<10xf32>)
    schedule(#mdh.schedule<>)
  return %z : tensor<f32>
}

// A copy.
// CHECK-LABEL: @copy
// CHECK:       mdh.compute
func.func @copy(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = tensor.empty() : tensor<8xf32>
  %z = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
    schedule(#mdh.schedule<>)
  return %z : tensor<8xf32>
}

// A producer that has one, and a consumer that has one.
// CHECK-LABEL: @producer
// CHECK-COUNT-3: mdh.compute
// FUSE-LABEL: @producer
// FUSE-COUNT-3: mdh.compute
func.func @producer(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = mdh.compute (i = 8)
    out_view(a = %e[i] : tensor<8xf32>)
    md_hom(mulf, (cc))
    inp_view(x = %x[i][7 - i] : tensor<8xf32>)
    schedule(#mdh.schedule<>)
  // expected-remark @+1 {{input 'a' is not fused with its producer: a schedule names the buffers and dimensions as they are}}
  %b = mdh.compute (i = 8)
    out_view(b = %e[i] : tensor<8xf32>)
    md_hom((%v: f32) {
      %w = math.exp %v : f32
      mdh.yield %w : f32
    }, (cc))
    inp_view(a = %a[i] : tensor<8xf32>)
  // expected-remark @+1 {{input 'b' is not fused with its producer: a schedule names the buffers and dimensions as they are}}
  %c = mdh.compute (k = 8)
    out_view(c = %y[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(b = %b[k] : tensor<8xf32>)
    schedule(#mdh.schedule<>)
  return %c : tensor<f32>
}
