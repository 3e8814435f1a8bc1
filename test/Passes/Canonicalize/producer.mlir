// Producers that move into their consumers.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// Converted at the store and read back; indices of both; a second component that goes.
// CHECK-LABEL: @converted
// CHECK:      mdh.compute (i = 8)
// CHECK:      md_hom((%[[A:.*]]: f32) {
// CHECK-DAG:    %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG:    %[[I:.*]] = mdh.index 0 : index
// CHECK:        %[[P:.*]] = arith.subi %[[C7]], %[[I]] : index
// CHECK:        %[[F:.*]] = arith.uitofp
// CHECK-NEXT:   %[[B:.*]] = arith.mulf %[[A]], %[[F]] : f32
// CHECK-NEXT:   %[[H:.*]] = arith.truncf %[[B]] : f32 to f16
// CHECK-NEXT:   %[[W:.*]] = arith.extf %[[H]] : f16 to f64
// CHECK-NEXT:   mdh.yield %[[W]] : f64
// CHECK:      inp_view(x = %{{.*}}[7 - i] : tensor<8xf32>)
func.func @converted(%x: tensor<8xf32>, %y: tensor<8xf64>) -> tensor<8xf64> {
  %e = tensor.empty() : tensor<8xf16>
  %p = mdh.compute (i = 8)
    out_view(_, e = %e[i] : tensor<8xf16>)
    md_hom((%a: f32) {
      %i = mdh.index 0 : index
      %j = arith.index_cast %i : index to i32
      %f = arith.uitofp %j : i32 to f32
      %b = arith.mulf %a, %f : f32
      mdh.yield %a, %b : f32, f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf64>)
    md_hom((%a: f16) {
      %b = arith.extf %a : f16 to f64
      mdh.yield %b : f64
    }, (ps(addf)))
    inp_view(p = %p[7 - i] : tensor<8xf16>)
  return %0 : tensor<8xf64>
}

// The producer's padding stays the guard of its reads; the consumer's is never read.
// CHECK-LABEL: @padded
// CHECK: mdh.compute (i = 8)
// CHECK: inp_view(x = %{{.*}}[i - 1] pad(0.000000e+00 : f32) : tensor<8xf32>)
func.func @padded(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = mdh.compute (i = 8)
    out_view(e = %e[i] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i - 1] pad(0.0 : f32) : tensor<8xf32>)
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[i] pad(3.0 : f32) : tensor<8xf32>)
  return %0 : tensor<8xf32>
}

// Dynamic, strided, with origins: the consumer has the producer's points.
// CHECK-LABEL: @dynamic
// CHECK-COUNT-1: mdh.compute
// CHECK: inp_view(x = %{{.*}}[j, i] : tensor<?x?xf32>)
// CHECK: return
func.func @dynamic(%x: tensor<?x?xf32>, %lo: index, %n: index, %m: index, %y: tensor<?xf32>)
    -> tensor<?xf32> {
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %p = mdh.compute (i = %lo to %n step 3 width 2, j = %m)
    out_view(e = %e[i, j] origin(%lo, 0) : tensor<?x?xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc, cc))
    inp_view(x = %x[j, i] : tensor<?x?xf32>)
  %0 = mdh.compute (i = %lo to %n step 3 width 2, j = 1 to %m)
    out_view(y = %y[i] : tensor<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(p = %p[i, j] origin(%lo, 0) : tensor<?x?xf32>)
  return %0 : tensor<?xf32>
}

// What only moves data is read through by any number of accesses and consumers.
// CHECK-LABEL: @moves
// CHECK: inp_view(x = %[[X:.*]][k, i][k, i + 1] : tensor<9x12xf32>)
// CHECK: inp_view(x = %[[X]][k, i] : tensor<9x12xf32>)
// CHECK-NOT: mdh.compute
func.func @moves(%x: tensor<9x12xf32>, %y: tensor<11xf32>, %z: tensor<12xf32>)
    -> (tensor<11xf32>, tensor<12xf32>) {
  %e = tensor.empty() : tensor<12x9xf32>
  %t = mdh.compute (i = 9, j = 12)
    out_view(e = %e[j, i] : tensor<12x9xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<9x12xf32>)
  %0 = mdh.compute (i = 11, k = 9)
    out_view(y = %y[i] : tensor<11xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(t = %t[i, k][i + 1, k] : tensor<12x9xf32>)
  %1 = mdh.compute (i = 12, k = 9)
    out_view(z = %z[i] : tensor<12xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(t = %t[i, k] : tensor<12x9xf32>)
  return %0, %1 : tensor<11xf32>, tensor<12xf32>
}

// The consumer's operator, carry and other inputs stay.
// CHECK-LABEL: @around
// CHECK:      md_hom((%[[A:.*]]: f32, %[[X:.*]]: f32, %[[C:.*]]: f32) {
// CHECK-NEXT:   %[[S:.*]] = math.sqrt %[[X]] : f32
// CHECK-NEXT:   %[[T:.*]] = arith.addf %[[A]], %[[S]] : f32
// CHECK-NEXT:   %[[U:.*]] = arith.addf %[[T]], %[[C]] : f32
// CHECK:      inp_view(a = %{{.*}}[k, i] : tensor<5x8xf32>, x = %{{.*}}[i, k] : tensor<8x5xf32>, c = %{{.*}}[] : f32)
// CHECK-NEXT: combine first associative
// CHECK:      carry k (d = %{{.*}}[i] : tensor<8xf32>)
func.func @around(%x: tensor<8x5xf32>, %a: tensor<5x8xf32>, %c: f32, %d: tensor<8xf32>)
    -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x5xf32>
  %p = mdh.compute (i = 8, k = 5)
    out_view(e = %e[i, k] : tensor<8x5xf32>)
    md_hom((%b: f32) {
      %s = math.sqrt %b : f32
      mdh.yield %s : f32
    }, (cc, cc))
    inp_view(x = %x[i, k] : tensor<8x5xf32>)
  %0 = mdh.compute (i = 8, k = 5)
    out_view(y = %d[i] : tensor<8xf32>)
    md_hom((%b: f32, %s: f32, %f: f32) {
      %t = arith.addf %b, %s : f32
      %u = arith.addf %t, %f : f32
      mdh.yield %u : f32
    }, (cc, pw(first)))
    inp_view(a = %a[k, i] : tensor<5x8xf32>, p = %p[i, k] : tensor<8x5xf32>, c = %c[] : f32)
    combine first associative (%b: f32, %s: f32) {
      mdh.yield %b : f32
    }
    carry k (d = %d[i] : tensor<8xf32>)
  return %0 : tensor<8xf32>
}
