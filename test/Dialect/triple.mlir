// mdh.inp_view, mdh.hom, mdh.out_view, mdh.index, mdh.yield and !mdh.mda.
//
// RUN: mdh-opt %s | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix GENERIC

// CHECK-LABEL: @matvec
// CHECK: %[[MDA:.*]] = mdh.inp_view (i = 8, k = 5) (M = %{{.*}}[i, k] : tensor<8x5xf32>, v = %{{.*}}[k] : tensor<5xf32>) : !mdh.mda<8x5, f32, f32>
// CHECK: %[[HOM:.*]] = mdh.hom(mulf, (cc, pw(addf))) %[[MDA]] : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
// CHECK: mdh.out_view (i, k) %[[HOM]] -> (w = %{{.*}}[i] : tensor<8xf32>) : !mdh.mda<8x1, f32>
// GENERIC: "mdh.inp_view"(%{{.*}}, %{{.*}}) <{dims = ["i", "k"], maps = {{.*}}, names = ["M", "v"], operandSegmentSizes = array<i32: 2, 0, 0>, pads = [unit, unit], static_bounds = array<i64: 0, 8, 1, 1, 0, 5, 1, 1>, static_origins = [array<i64: 0, 0>, array<i64: 0>]}> : (tensor<8x5xf32>, tensor<5xf32>) -> !mdh.mda<8x5, f32, f32>
// GENERIC: "mdh.hom"(%{{.*}}) <{combine = [#mdh.cc, #mdh.pw<addf>]}> ({
// GENERIC: "mdh.out_view"
func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %mda = mdh.inp_view (i = 8, k = 5) (%M[i, k] : tensor<8x5xf32>, %v[k] : tensor<5xf32>)
       : !mdh.mda<8x5, f32, f32>
  %prod = mdh.hom(mulf, (cc, pw(addf))) %mda : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
  %w = mdh.out_view (i, k) %prod -> (w = %init[i] : tensor<8xf32>) : !mdh.mda<8x1, f32>
  return %w : tensor<8xf32>
}

// Strided and dynamic bounds, origins, padding, several accesses, scalars, several outputs.
// CHECK-LABEL: @all_of_it
// CHECK: mdh.inp_view (i = %[[LO:.*]] to %[[N:.*]] step 4 width 2, j = -1 to 5) (x = %{{.*}}[i, j][i * 2 - 1, 7 - j] origin(%[[LO]], -3) pad(0.000000e+00 : f16) : tensor<?x?xf16>, alpha = %{{.*}}[] : f32, c = %{{.*}}[i floordiv 2, (i + j) mod 3] : tensor<?x3xi1>) : !mdh.mda<?x6, f16, f16, f32, i1>
// CHECK: mdh.hom((%{{.*}}: f16, %{{.*}}: f16, %{{.*}}: f32, %{{.*}}: i1) {
// CHECK:   mdh.index 1 : index
// CHECK:   mdh.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, index, i1
// CHECK: }, (cc, ps(maximumf, minsi, ori))) %{{.*}} : !mdh.mda<?x6, f16, f16, f32, i1> -> !mdh.mda<?x6, f32, index, i1>
// CHECK: mdh.out_view (i, j) %{{.*}} -> (_, at = %{{.*}}[i, j] origin(%[[LO]], -1) : tensor<?x6xindex>, y = %{{.*}}[i, 4 - j] origin(%[[LO]], 0) : tensor<?x6xi1>) : !mdh.mda<?x6, f32, index, i1>
func.func @all_of_it(%x: tensor<?x?xf16>, %alpha: f32, %c: tensor<?x3xi1>, %lo: index, %n: index,
                     %at: tensor<?x6xindex>, %y: tensor<?x6xi1>)
    -> (tensor<?x6xindex>, tensor<?x6xi1>) {
  %mda = mdh.inp_view (i = %lo to %n step 4 width 2, j = -1 to 5)
      (%x[i, j][2 * i - 1, 7 - j] origin(%lo, -3) pad(0.0 : f16) : tensor<?x?xf16>,
       %alpha[] : f32, %c[i floordiv 2, (i + j) mod 3] : tensor<?x3xi1>)
       : !mdh.mda<?x6, f16, f16, f32, i1>
  %scan = mdh.hom((%a: f16, %b: f16, %s: f32, %t: i1) {
    %j = mdh.index 1 : index
    mdh.yield %s, %j, %t : f32, index, i1
  }, (cc, ps(maximumf, minsi, ori))) %mda
      : !mdh.mda<?x6, f16, f16, f32, i1> -> !mdh.mda<?x6, f32, index, i1>
  %0:2 = mdh.out_view (i, j) %scan -> (_, %at[i, j] origin(%lo, -1) : tensor<?x6xindex>,
                                       %y[i, 4 - j] origin(%lo, 0) : tensor<?x6xi1>)
       : !mdh.mda<?x6, f32, index, i1>
  return %0#0, %0#1 : tensor<?x6xindex>, tensor<?x6xi1>
}

// A chain, an operator of one's own, memrefs, a carry with everything.
// CHECK-LABEL: @chain
// CHECK: mdh.hom(id, (cc, pw(@second))) %{{.*}} : !mdh.mda<8x5, bf16> -> !mdh.mda<8x1, bf16>
// CHECK: mdh.hom(id, (pw(@second), cc)) %{{.*}} : !mdh.mda<8x1, bf16> -> !mdh.mda<1x1, bf16>
// CHECK: mdh.out_view (i, k) %{{.*}} -> (y = %{{.*}}[] : memref<bf16>)
// CHECK-NEXT: carry i (c = %{{.*}}[] : memref<bf16>) valid %{{.*}} -> (d = %{{.*}}[] : memref<bf16>) : !mdh.mda<1x1, bf16>
func.func @chain(%x: memref<8x5xbf16, strided<[?, 2], offset: ?>>, %y: memref<bf16>,
                 %c: memref<bf16>, %d: memref<bf16>, %there: i1) {
  %mda = mdh.inp_view (i = 8, k = 5)
      (%x[i, k] : memref<8x5xbf16, strided<[?, 2], offset: ?>>) : !mdh.mda<8x5, bf16>
  %rows = mdh.hom(id, (cc, pw(@second))) %mda : !mdh.mda<8x5, bf16> -> !mdh.mda<8x1, bf16>
  %all = mdh.hom(id, (pw(@second), cc)) %rows : !mdh.mda<8x1, bf16> -> !mdh.mda<1x1, bf16>
  mdh.out_view (i, k) %all -> (%y[] : memref<bf16>)
    carry i (%c[] : memref<bf16>) valid %there -> (%d[] : memref<bf16>) : !mdh.mda<1x1, bf16>
  return
}
mdh.combine @second associative (%a: bf16, %b: bf16) {
  mdh.yield %b : bf16
}

// An MDA without components, and one that two views use.
// CHECK-LABEL: @points
// CHECK: %[[POINTS:.*]] = mdh.inp_view (i = 4, j = 4) () : !mdh.mda<4x4>
// CHECK: %[[SUM:.*]] = mdh.hom(() {
// CHECK: mdh.out_view (i, j) %[[SUM]] -> (a = %{{.*}}[i, j] : memref<4x4xindex>) : !mdh.mda<4x4, index>
// CHECK: mdh.out_view (p, q) %[[SUM]] -> (b = %{{.*}}[q, p] : memref<4x4xindex>) : !mdh.mda<4x4, index>
func.func @points(%a: memref<4x4xindex>, %b: memref<4x4xindex>) {
  %points = mdh.inp_view (i = 4, j = 4) () : !mdh.mda<4x4>
  %sum = mdh.hom(() {
    %i = mdh.index 0 : index
    mdh.yield %i : index
  }, (cc, cc)) %points : !mdh.mda<4x4> -> !mdh.mda<4x4, index>
  mdh.out_view (i, j) %sum -> (%a[i, j] : memref<4x4xindex>) : !mdh.mda<4x4, index>
  mdh.out_view (p, q) %sum -> (%b[q, p] : memref<4x4xindex>) : !mdh.mda<4x4, index>
  return
}
