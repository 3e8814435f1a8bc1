// Upstream asks for the shapes of results, which are those of the tensors that they are written to.
// Bounds of their sizes it takes from the destination style.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %s --resolve-ranked-shaped-type-result-dims \
// RUN:   | FileCheck %s --check-prefix SHAPES
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %s --pass-pipeline="builtin.module(func.func(affine-simplify-min-max))" \
// RUN:   | FileCheck %s --check-prefix BOUNDS

// SHAPES-LABEL: func.func @size(
// SHAPES-SAME:    %[[X:.*]]: tensor<?x4xf32>, %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<2x?xf32>
// SHAPES-DAG:   %[[FIRST:.*]] = tensor.dim %[[A]], %c0
// SHAPES-DAG:   %[[SECOND:.*]] = tensor.dim %[[B]], %c1
// SHAPES:       return %[[FIRST]], %[[SECOND]]
func.func @size(%x: tensor<?x4xf32>, %a: tensor<?xf32>, %b: tensor<2x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %y, %z = mdh.compute (i = %n, k = 4)
    out_view(y = %a[i] : tensor<?xf32>, z = %b[0, i] : tensor<2x?xf32>)
    md_hom((%e: f32) { mdh.yield %e, %e : f32, f32 }, (cc, pw(addf, mulf)))
    inp_view(x = %x[i, k] : tensor<?x4xf32>)
  %first = tensor.dim %y, %c0 : tensor<?xf32>
  %second = tensor.dim %z, %c1 : tensor<2x?xf32>
  return %first, %second : index, index
}

// The result is as large as the tensor that it is written to, so that the smaller of both is known.
// BOUNDS-LABEL: func.func @smaller(
// BOUNDS-NOT:   affine.min
// BOUNDS:       return
func.func @smaller(%x: tensor<?xf32>, %a: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = mdh.compute (i = %n)
    out_view(y = %a[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %first = tensor.dim %y, %c0 : tensor<?xf32>
  %own = tensor.dim %a, %c0 : tensor<?xf32>
  %least = affine.min affine_map<()[s, t] -> (s, t + 3)>()[%first, %own]
  return %least : index
}
