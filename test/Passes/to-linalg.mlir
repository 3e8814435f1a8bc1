// RUN: mdh-opt %s --split-input-file --mdh-to-linalg --verify-diagnostics | FileCheck %s
// RUN: mdh-opt %s --split-input-file --mdh-lower-to-linalg --verify-diagnostics | FileCheck %s --check-prefix NAMED
// RUN: mdh-opt %s --split-input-file --mdh-to-linalg --mdh-raise-linalg --canonicalize --verify-diagnostics \
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

// What is carried in is what the destination holds; an operator of one's own keeps its laws; an index
// stays one.
// CHECK-LABEL: func.func @largest
// CHECK-NOT:   linalg.fill
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%{{.*}} : memref<?xf32>) outs(%{{.*}}, %{{.*}} : memref<f32>, memref<index>)
// CHECK-SAME:    attrs = {{.*}}{mdh.associative}
// CHECK-NEXT:  ^bb0(%[[X:.*]]: f32, %[[V:.*]]: f32, %[[AT:.*]]: index):
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

// It takes the size of a loop from an operand.
func.func @part(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @+1 {{stays a computation: dimension 'i' has another size than axis 0 of 'x': expected all of the axis; take a slice of it}}
  %z = mdh.compute (i = 6)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  return %z : tensor<8xf32>
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
