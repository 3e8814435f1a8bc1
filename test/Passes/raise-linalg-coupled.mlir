// Coupled accumulators: what becomes of them, and what stays.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>

// A sum beside a pair: one computation.
// CHECK-LABEL: func.func @beside
// CHECK:       mdh.compute
// CHECK:         combine parts associative
// CHECK-NOT:   commutative
// CHECK:           arith.addi
// CHECK-NOT:   mdh.compute
// CHECK:       return
func.func @beside(%x: tensor<7x13xi32>, %b: tensor<7xi32>, %p: tensor<7xindex>, %s: tensor<7xi32>)
    -> (tensor<7xi32>, tensor<7xindex>, tensor<7xi32>) {
  %r:3 = linalg.generic {indexing_maps = [#rows, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %p, %s : tensor<7xi32>, tensor<7xindex>, tensor<7xi32>) {
  ^bb0(%in: i32, %best: i32, %place: index, %sum: i32):
    %k = linalg.index 1 : index
    %is_less = arith.cmpi slt, %in, %best : i32
    %v = arith.select %is_less, %in, %best : i32
    %q = arith.select %is_less, %k, %place : index
    %t = arith.addi %sum, %in : i32
    linalg.yield %v, %q, %t : i32, index, i32
  } -> (tensor<7xi32>, tensor<7xindex>, tensor<7xi32>)
  return %r#0, %r#1, %r#2 : tensor<7xi32>, tensor<7xindex>, tensor<7xi32>
}

// -----

// Over two loops the place decides ties, where it grows with every iteration, and starts from no larger one.
// CHECK-LABEL: func.func @image
// CHECK:       mdh.compute (k = 7, r = 13)
// CHECK:         pw(select), pw(select)
// CHECK:         combine select commutative associative
func.func @image(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<index>) {
  %zero = arith.constant dense<0> : tensor<index>
  %width = arith.constant 13 : index
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %zero : tensor<i32>, tensor<index>) {
  ^bb0(%in: i32, %best: i32, %place: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %ij, %place : index
    linalg.yield %v, %q : i32, index
  } -> (tensor<i32>, tensor<index>)
  return %r#0, %r#1 : tensor<i32>, tensor<index>
}

// -----

// Two iterations have one place.
// CHECK-LABEL: func.func @overlapping
// CHECK:       linalg.generic
func.func @overlapping(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i8>) {
  %start = arith.constant dense<0> : tensor<i8>
  %width = arith.constant 12 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// The place goes down from the end of one column to the start of the next one.
// CHECK-LABEL: func.func @columns
// CHECK:       linalg.generic
func.func @columns(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i8>) {
  %start = arith.constant dense<0> : tensor<i8>
  %width = arith.constant 7 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %j, %width : index
    %ij = arith.addi %line, %i : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// The place does not fit its type, so that it may be less than the one before.
// CHECK-LABEL: func.func @wrapped
// CHECK:       linalg.generic
func.func @wrapped(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i8>) {
  %start = arith.constant dense<0> : tensor<i8>
  %width = arith.constant 20 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// What it starts from may be a larger place, and stays where all are equal.
// CHECK-LABEL: func.func @from_anywhere
// CHECK:       linalg.generic
func.func @from_anywhere(%x: tensor<7x13xi32>, %b: tensor<i32>, %start: tensor<i8>) -> (tensor<i32>, tensor<i8>) {
  %width = arith.constant 13 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}
