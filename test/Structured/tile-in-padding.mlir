// A tile that lies in the padding takes an element all the same, which it does not read: MLIR takes no slice of what has
// no elements.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy i4 "[[3, 4]]"
// RUN: mdh-opt %s --transform-interpreter -o %t.mlir
// RUN: mdh run %t.mlir --entry before --in %t.x.npy --out %t.y.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "a.ravel()" | FileCheck %s --check-prefix BEFORE
// BEFORE: 5 5 5 5
// RUN: mdh run %t.mlir --entry around --in %t.x.npy 2 --out %t.y.npy
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "a.ravel()" | FileCheck %s --check-prefix AROUND
// AROUND: 5 5 5 5 3 5 3 5 4 5 4 5 5 5 5 5
// RUN: mdh run %t.mlir --entry around --in %t.x.npy 0 --check
// RUN: mdh run %t.mlir --entry around --in %t.x.npy 0 --check-each-step
// RUN: mdh run %t.mlir --entry around --in %t.x.npy 2 --check-each-step
// REQUIRES: numpy
module attributes {transform.with_named_sequence} {
  func.func @before(%x: tensor<1x2xi32>) -> tensor<1x2x2xi32> {
    %init = tensor.empty() : tensor<1x2x2xi32>
    %y = mdh.compute (i = 1, j = 2, k = 2)
      out_view(before = %init[i, j, k] : tensor<1x2x2xi32>)
      md_hom(id, (cc, cc, cc))
      inp_view(x = %x[k, i] origin(0, 1) pad(5 : i32) : tensor<1x2xi32>)
    return %y : tensor<1x2x2xi32>
  }

  func.func @around(%x: tensor<?x?xi32>, %n: index) -> tensor<4x?x2xi32> {
    %init = tensor.empty(%n) : tensor<4x?x2xi32>
    %y = mdh.compute (i = 4, j = %n, k = 2)
      out_view(around = %init[i, j, k] : tensor<4x?x2xi32>)
      md_hom(id, (cc, cc, cc))
      inp_view(x = %x[k, i] origin(0, 1) pad(5 : i32) : tensor<?x?xi32>)
    return %y : tensor<4x?x2xi32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %before = transform.mdh.match before in %root : (!transform.any_op) -> (!transform.any_op)
    %b:2 = transform.structured.tile_using_for %before tile_sizes [1, 0, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %c:2 = transform.structured.tile_using_for %b#0 tile_sizes [0, 0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %around = transform.mdh.match around in %root : (!transform.any_op) -> (!transform.any_op)
    %d:2 = transform.structured.tile_using_for %around tile_sizes [1, 0, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %e:2 = transform.structured.tile_using_for %d#0 tile_sizes [0, 0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
