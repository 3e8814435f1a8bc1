// A chain of homs becomes one computation for each, with buffers between them.
//
// RUN: mdh-opt %s --mdh-form-compute | FileCheck %s --implicit-check-not mdh.inp_view --implicit-check-not "mdh.hom("

// Only the component that is used is stored; dimensions combined by pw have no axis.
// CHECK-LABEL: @tensors
// CHECK-SAME: %[[X:.*]]: tensor<8x5x3xf32>, %[[INIT:.*]]: tensor<8xf64>
// CHECK:      %[[T:.*]] = tensor.empty() : tensor<8x3xi1>
// CHECK-NEXT: %[[HOM:.*]] = mdh.compute (i = 8, k = 5, j = 3)
// CHECK-NEXT:   out_view(_, hom0_1 = %[[T]][i, j] : tensor<8x3xi1>)
// CHECK-NEXT:   md_hom((%[[A:.*]]: f32) {
// CHECK:          mdh.yield %[[A]], %{{.*}} : f32, i1
// CHECK:        }, (cc, pw(addf, ori), cc))
// CHECK-NEXT:   inp_view(x = %[[X]][i, k, j] : tensor<8x5x3xf32>)
// CHECK-NEXT: mdh.compute (i = 8, k = 1, j = 3)
// CHECK-NEXT:   out_view(y = %[[INIT]][i] : tensor<8xf64>)
// CHECK-NEXT:   md_hom((%[[B:.*]]: i1) {
// CHECK:        }, (cc, cc, pw(addf)))
// CHECK-NEXT:   inp_view(hom0_1 = %[[HOM]][i, j] : tensor<8x3xi1>)
func.func @tensors(%x: tensor<8x5x3xf32>, %y: tensor<8xf64>) -> tensor<8xf64> {
  %mda = mdh.inp_view (i = 8, k = 5, j = 3) (%x[i, k, j] : tensor<8x5x3xf32>)
       : !mdh.mda<8x5x3, f32>
  %any = mdh.hom((%a: f32) {
    %zero = arith.constant 0.0 : f32
    %is_negative = arith.cmpf olt, %a, %zero : f32
    mdh.yield %a, %is_negative : f32, i1
  }, (cc, pw(addf, ori), cc)) %mda : !mdh.mda<8x5x3, f32> -> !mdh.mda<8x1x3, f32, i1>
  %count = mdh.hom((%sum: f32, %b: i1) {
    %c = arith.uitofp %b : i1 to f32
    mdh.yield %c : f32
  }, (cc, cc, pw(addf))) %any : !mdh.mda<8x1x3, f32, i1> -> !mdh.mda<8x1x1, f32>
  %w = mdh.out_view (i, k, j) %count -> (%y[i] : tensor<8xf64>) : !mdh.mda<8x1x1, f32>
  return %w : tensor<8xf64>
}

// Bounds of all kinds: the buffer has the indices from the lower to the upper bound.
// CHECK-LABEL: @bounds
// CHECK-SAME: %[[X:.*]]: memref<?x?x9xf32>, %[[LO:.*]]: index, %[[N:.*]]: index, %[[Y:.*]]: memref<?x?x9xf32>
// CHECK-DAG:  %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:  %[[DISTANCE:.*]] = arith.subi %[[N]], %[[LO]] : index
// CHECK:      %[[SPAN:.*]] = arith.maxsi %[[DISTANCE]], %[[C0]] : index
// CHECK:      %[[SPAN0:.*]] = arith.maxsi %[[N]], %{{.*}} : index
// CHECK:      %[[T:.*]] = memref.alloc(%[[SPAN]], %[[SPAN0]]) : memref<?x?x6xf32>
// CHECK-NEXT: mdh.compute (a = %[[LO]] to %[[N]] step 2, b = %[[N]], c = 3 to 9 step 4 width 2)
// CHECK-NEXT:   out_view(hom0_0 = %[[T]][a, b, c] origin(%[[LO]], 0, 3) : memref<?x?x6xf32>)
// CHECK:      mdh.compute (a = %[[LO]] to %[[N]] step 2, b = %[[N]], c = 3 to 9 step 4 width 2)
// CHECK-NEXT:   out_view(y = %[[Y]][a, b, c] : memref<?x?x9xf32>)
// CHECK:        inp_view(hom0_0 = %[[T]][a, b, c] origin(%[[LO]], 0, 3) : memref<?x?x6xf32>)
// CHECK-NEXT: memref.dealloc %[[T]] : memref<?x?x6xf32>
func.func @bounds(%x: memref<?x?x9xf32>, %lo: index, %n: index, %y: memref<?x?x9xf32>) {
  %mda = mdh.inp_view (a = %lo to %n step 2, b = %n, c = 3 to 9 step 4 width 2)
      (%x[a, b, c] : memref<?x?x9xf32>) : !mdh.mda<?x?x4, f32>
  %rows = mdh.hom(id, (ps(addf), cc, cc)) %mda : !mdh.mda<?x?x4, f32> -> !mdh.mda<?x?x4, f32>
  %all = mdh.hom(id, (cc, ps(mulf), cc)) %rows : !mdh.mda<?x?x4, f32> -> !mdh.mda<?x?x4, f32>
  mdh.out_view (a, b, c) %all -> (%y[a, b, c] : memref<?x?x9xf32>) : !mdh.mda<?x?x4, f32>
  return
}

// Three homs; the last one takes no component, so that the first two are not needed.
// CHECK-LABEL: @unneeded
// CHECK-NOT: tensor.empty
// CHECK:      mdh.compute (i = 1, k = 5)
// CHECK-NEXT:   out_view(y = %{{.*}}[k] : tensor<5xindex>)
// CHECK-NEXT:   md_hom(() {
// CHECK:        }, (cc, ps(addi)))
// CHECK-NEXT:   inp_view()
// CHECK-NOT: mdh.compute
func.func @unneeded(%x: tensor<8x5xf32>, %y: tensor<5xindex>) -> tensor<5xindex> {
  %mda = mdh.inp_view (i = 8, k = 5) (%x[i, k] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  %a = mdh.hom(id, (pw(addf), cc)) %mda : !mdh.mda<8x5, f32> -> !mdh.mda<1x5, f32>
  %b = mdh.hom(id, (cc, cc)) %a : !mdh.mda<1x5, f32> -> !mdh.mda<1x5, f32>
  %c = mdh.hom((%unused: f32) {
    %k = mdh.index 1 : index
    mdh.yield %k : index
  }, (cc, ps(addi))) %b : !mdh.mda<1x5, f32> -> !mdh.mda<1x5, index>
  %w = mdh.out_view (i, k) %c -> (%y[k] : tensor<5xindex>) : !mdh.mda<1x5, index>
  return %w : tensor<5xindex>
}

// Everything combined: a buffer without axes.
// CHECK-LABEL: @scalar
// CHECK: %[[T:.*]] = tensor.empty() : tensor<f32>
// CHECK: out_view(hom0_0 = %[[T]][] : tensor<f32>)
// CHECK: mdh.compute (i = 1)
func.func @scalar(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  %mda = mdh.inp_view (i = 2 to 8) (%x[i] : tensor<8xf32>) : !mdh.mda<6, f32>
  %a = mdh.hom(id, (pw(addf))) %mda : !mdh.mda<6, f32> -> !mdh.mda<1, f32>
  %b = mdh.hom((%s: f32) {
    %root = math.sqrt %s : f32
    mdh.yield %root : f32
  }, (cc)) %a : !mdh.mda<1, f32> -> !mdh.mda<1, f32>
  %w = mdh.out_view (i) %b -> (%y[] : tensor<f32>) : !mdh.mda<1, f32>
  return %w : tensor<f32>
}
