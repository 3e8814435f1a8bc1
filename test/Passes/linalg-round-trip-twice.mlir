// What linalg says in other words than it was written is said in the same ones from then on.
//
// RUN: mdh-opt %s --mdh-raise --canonicalize --mdh-to-linalg --canonicalize --cse -o %t.once.mlir
// RUN: mdh-opt %t.once.mlir --mdh-raise --canonicalize --mdh-to-linalg --canonicalize --cse -o %t.twice.mlir
// RUN: mdh-opt %t.twice.mlir --mdh-raise --canonicalize --mdh-to-linalg --canonicalize --cse -o %t.thrice.mlir
// RUN: diff %t.twice.mlir %t.thrice.mlir
// RUN: FileCheck %s --input-file=%t.once.mlir
// RUN: FileCheck %s --input-file=%t.twice.mlir

// How much is read behind a tensor is what the loops read there.
// CHECK-LABEL:   func.func @padded(
// CHECK-NOT:       cf.assert
// CHECK:           tensor.pad %arg0 low[1, 1] high[%{{.*}}, %{{.*}}]
// CHECK-NOT:       tensor.extract_slice
// CHECK:           linalg.conv_2d
// CHECK-NEXT:      return
func.func @padded(%a: tensor<?x?xf32>, %b: tensor<3x3xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %a low[1, 1] high[1, 1] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  %d = linalg.conv_2d ins(%p, %b : tensor<?x?xf32>, tensor<3x3xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL:   func.func @origin(
// CHECK-COUNT-1:   tensor.pad
// CHECK-NOT:       tensor.pad
// CHECK-COUNT-1:   tensor.extract_slice
// CHECK-NOT:       tensor.extract_slice
// CHECK-NOT:       linalg.copy
// CHECK:           linalg.generic
// CHECK-NOT:       tensor.insert_slice
// CHECK:           return
func.func @origin(%x: tensor<?xf32>, %o: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %r = mdh.compute (i = %n, k = 3)
    out_view(y = %y[i] : tensor<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i + k] origin(%o) pad(0.0 : f32) : tensor<?xf32>)
  return %r : tensor<?xf32>
}

// Of a computation that was never linalg nobody knows that its buffers fit: it takes slices, once.
// CHECK-LABEL:   func.func @smaller(
// CHECK-COUNT-2:   tensor.extract_slice
// CHECK-NOT:       tensor.extract_slice
// CHECK:           linalg.add
// CHECK-NOT:       linalg.copy
// CHECK-COUNT-1:   tensor.insert_slice
// CHECK-NOT:       tensor.insert_slice
// CHECK:           return
func.func @smaller(%x: tensor<?xf32>, %z: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = mdh.compute (i = %n)
    out_view(y = %y[i] : tensor<?xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : tensor<?xf32>, z = %z[i] : tensor<?xf32>)
  return %r : tensor<?xf32>
}
