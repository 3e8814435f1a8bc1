// Sizes behind casts, of what stays linalg: dimensions of one name have sizes of their own.
//
// RUN: mdh run %s --check=all --entry behind --random 1 2>&1 | FileCheck %s --check-prefix BEHIND
// BEHIND: note: 2 operations of linalg raised
// BEHIND: check passed: 10 of 10 elements compared, no difference
//
// Sizes that nothing says but what the program makes of them are followed through it.
// RUN: mdh run %s --check=all --entry open --size i=6 --random 1 2>&1 | FileCheck %s --check-prefix OPEN
// OPEN: check passed: 12 of 12 elements compared, no difference
//
// The loops of what stays linalg have the names that they have when they are raised.
// RUN: mdh run %s --check=all --entry loops --size i=6 j=5 k=4 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix LOOPS
// RUN: mdh run %s --check=all --entry loops --size i=6 j=5 k=4 --random 1 2>&1 | FileCheck %s --check-prefix LOOPS
// LOOPS: in {{ *}}a {{ *}}6x4xi32
// LOOPS: check passed: 36 of 36 elements compared, no difference
// RUN: mdh run %s --check=all --entry loops --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix ASSUMED
// ASSUMED: check passed: {{[0-9]+}} of {{[0-9]+}} elements compared, no difference
// RUN: mdh run %s --check=all --entry stays --size i=6 k=5 --random 1 2>&1 | FileCheck %s --check-prefix STAYS
// RUN: mdh run %s --check=all --entry stays --size i=6 k=5 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix STAYS
// STAYS: 6x5xi32
// STAYS: check passed: 6 of 6 elements compared, no difference
// RUN: not mdh run %s --check=all --entry stays --size n=6 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix NAMES
// NAMES: error: there is no dimension 'n'
// NAMES: help: 'stays' has: i, k
//
// Softmax has one size for each of its axes, and its destination is as large.
// RUN: mdh run %s --check=all --entry softmax --size i=5 k=6 --random 1 2>&1 | FileCheck %s --check-prefix SOFTMAX
// RUN: mdh run %s --check=all --entry softmax --size i=5 k=6 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix SOFTMAX
// SOFTMAX: 5x6xf32
// SOFTMAX: check passed: 30 of 30 elements compared
// RUN: not mdh run %s --check=all --entry softmax --size j=5 --random 1 2>&1 | FileCheck %s --check-prefix AXES
// AXES: help: 'softmax' has: i, k
// RUN: %python %S/Inputs/npy.py save %t.3.npy f4 "np.ones((5, 3))"
// RUN: %python %S/Inputs/npy.py save %t.9.npy f4 "np.ones((5, 9))"
// RUN: not mdh run %s --entry softmax --in x=%t.3.npy d=%t.9.npy 2>&1 | FileCheck %s --check-prefix UNFIT
// UNFIT: error: 'linalg.softmax' op has operands of extents that do not fit: loop 1 runs over axis 1 of operand 0 and axis 1 of operand 1: expected the same number of indices
//
// A packed tensor has tiles for all elements, and may have more.
// RUN: %python %S/Inputs/npy.py save %t.packed.npy f4 "np.ones((2, 3, 4, 4))"
// RUN: %python %S/Inputs/npy.py save %t.few.npy f4 "np.ones((2, 2, 4, 4))"
// RUN: mdh run %s --entry pack --check=all --in x=%t.9.npy d=%t.packed.npy 2>&1 | FileCheck %s --check-prefix PACKED
// PACKED: out {{ *}}out {{ *}}2x3x4x4xf32
// RUN: mdh run %s --entry pack --check=all --in x=%t.3.npy d=%t.packed.npy 2>&1 | FileCheck %s --check-prefix PACKED
// RUN: not mdh run %s --entry pack --in x=%t.9.npy d=%t.few.npy 2>&1 | FileCheck %s --check-prefix FEW
// FEW: error: 'linalg.pack' op has a destination that is too small: expected axis 1 to have tiles for all elements of axis 1 of its source
// REQUIRES: numpy

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
#all = affine_map<(i) -> (i)>

func.func @behind(%x: tensor<3x4xi32>, %y: tensor<3xi32>, %z: tensor<7xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %xo = tensor.cast %x : tensor<3x4xi32> to tensor<?x?xi32>
  %yo = tensor.cast %y : tensor<3xi32> to tensor<?xi32>
  %zo = tensor.cast %z : tensor<7xi32> to tensor<?xi32>
  %h = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%xo : tensor<?x?xi32>) outs(%yo : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %twice = arith.muli %o, %a : i32
    %more = arith.addi %twice, %a : i32
    linalg.yield %more : i32
  } -> tensor<?xi32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%h : tensor<?xi32>) outs(%h : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %more = arith.muli %a, %a : i32
    linalg.yield %more : i32
  } -> tensor<?xi32>
  %q = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%zo : tensor<?xi32>) outs(%zo : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %more = arith.addi %a, %a : i32
    linalg.yield %more : i32
  } -> tensor<?xi32>
  return %p, %q : tensor<?xi32>, tensor<?xi32>
}

func.func @open(%x: tensor<6x4xi32>, %y: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %h = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x4xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %twice = arith.muli %o, %a : i32
    %more = arith.addi %twice, %a : i32
    linalg.yield %more : i32
  } -> tensor<?xi32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%h : tensor<?xi32>) outs(%h : tensor<?xi32>) {
  ^bb0(%a: i32, %o: i32):
    %more = arith.muli %a, %a : i32
    linalg.yield %more : i32
  } -> tensor<?xi32>
  return %h, %p : tensor<?xi32>, tensor<?xi32>
}

// A product and what cannot be raised: open sizes are those of their loops.
func.func @loops(%a: tensor<?x?xi32>, %b: tensor<?x?xi32>, %c: tensor<?x?xi32>, %x: tensor<?x?xi32>, %y: tensor<?xi32>) -> (tensor<?x?xi32>, tensor<?xi32>) {
  %d = linalg.matmul ins(%a, %b : tensor<?x?xi32>, tensor<?x?xi32>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  %h = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%e: i32, %o: i32):
    %twice = arith.muli %o, %e : i32
    %more = arith.addi %twice, %e : i32
    linalg.yield %more : i32
  } -> tensor<?xi32>
  return %d, %h : tensor<?x?xi32>, tensor<?xi32>
}

// Nothing of it can be raised.
func.func @stays(%x: memref<?x?xi32>, %y: memref<?xi32>) {
  linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xi32>) outs(%y : memref<?xi32>) {
  ^bb0(%e: i32, %o: i32):
    %twice = arith.muli %o, %e : i32
    %more = arith.addi %twice, %e : i32
    linalg.yield %more : i32
  }
  return
}

// Alone.
func.func @softmax(%x: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

func.func @pack(%x: tensor<?x?xf32>, %d: tensor<?x?x4x4xf32>) -> tensor<?x?x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %s = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %d : tensor<?x?xf32> -> tensor<?x?x4x4xf32>
  return %s : tensor<?x?x4x4xf32>
}
