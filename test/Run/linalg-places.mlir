// Arg-maxima of which one result is used, over a loop that is not the innermost: what nobody reads starts from a
// number. Inputs in another order than the destinations that they meet.
//
// RUN: mdh run %s --entry outer --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry channels --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry filled --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry swapped --random 1 --check=all 2>&1 | FileCheck %s --check-prefixes RAISED,CHECK
// RUN: mdh run %s --entry swapped --random 1 > %t.a 2> /dev/null
// RUN: mdh run %s --entry swapped --random 1 --no-raise > %t.b 2> /dev/null
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix SAME
//
// RAISED: note: 1 operation of linalg raised
// CHECK: check {{ *}}passed
// SAME: out {{ *}}out {{ *}}16xi32 {{ *}}[[FIRST:[0-9a-f]+]]
// SAME: out {{ *}}out_1 {{ *}}16xi32 {{ *}}[[SECOND:[0-9a-f]+]]
// SAME: out {{ *}}{{.*}} {{ *}}16xi32 {{ *}}[[FIRST]]
// SAME: out {{ *}}{{.*}} {{ *}}16xi32 {{ *}}[[SECOND]]

func.func @outer(%x: tensor<5x8xf32>) -> tensor<8xi32> {
  %zero = arith.constant 0 : i32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8xi32>
  %places = linalg.fill ins(%zero : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  %d = tensor.empty() : tensor<8xf32>
  %values = linalg.fill ins(%least : f32) outs(%d : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(k, i) -> (k, i)>, affine_map<(k, i) -> (i)>, affine_map<(k, i) -> (i)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<5x8xf32>) outs(%places, %values : tensor<8xi32>, tensor<8xf32>) {
  ^bb0(%in: f32, %place: i32, %best: f32):
    %k = linalg.index 0 : index
    %at = arith.index_cast %k : index to i32
    %is_more = arith.cmpf ogt, %in, %best fastmath<nnan> : f32
    %p = arith.select %is_more, %at, %place : i32
    %v = arith.select %is_more, %in, %best : f32
    linalg.yield %p, %v : i32, f32
  } -> (tensor<8xi32>, tensor<8xf32>)
  return %r#0 : tensor<8xi32>
}

func.func @channels(%x: tensor<1x21x16x33xf32>) -> tensor<1x16x33xi32> {
  %zero = arith.constant 0 : i32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x16x33xi32>
  %places = linalg.fill ins(%zero : i32) outs(%e : tensor<1x16x33xi32>) -> tensor<1x16x33xi32>
  %d = tensor.empty() : tensor<1x16x33xf32>
  %values = linalg.fill ins(%least : f32) outs(%d : tensor<1x16x33xf32>) -> tensor<1x16x33xf32>
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w)>,
                     affine_map<(n, h, w, c) -> (n, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%x : tensor<1x21x16x33xf32>) outs(%places, %values : tensor<1x16x33xi32>, tensor<1x16x33xf32>) {
  ^bb0(%in: f32, %place: i32, %best: f32):
    %c = linalg.index 3 : index
    %at = arith.index_cast %c : index to i32
    %is_more = arith.cmpf ogt, %in, %best fastmath<nnan> : f32
    %p = arith.select %is_more, %at, %place : i32
    %v = arith.select %is_more, %in, %best : f32
    linalg.yield %p, %v : i32, f32
  } -> (tensor<1x16x33xi32>, tensor<1x16x33xf32>)
  return %r#0 : tensor<1x16x33xi32>
}

// What is carried in is an argument.
func.func @filled(%x: tensor<9x40xf32>, %least: f32) -> tensor<40xf32> {
  %d = tensor.empty() : tensor<40xf32>
  %e = tensor.empty() : tensor<40xf32>
  %zero = arith.constant 0.0 : f32
  %values = linalg.fill ins(%least : f32) outs(%d : tensor<40xf32>) -> tensor<40xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(k, i) -> (k, i)>, affine_map<(k, i) -> (i)>, affine_map<(k, i) -> (i)>],
    iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<9x40xf32>) outs(%sums, %values : tensor<40xf32>, tensor<40xf32>) {
  ^bb0(%in: f32, %sum: f32, %best: f32):
    %s = arith.addf %sum, %in : f32
    %v = arith.maximumf %best, %in : f32
    linalg.yield %s, %v : f32, f32
  } -> (tensor<40xf32>, tensor<40xf32>)
  return %r#0 : tensor<40xf32>
}

func.func @swapped(%x: tensor<16x400xi32>, %ix: tensor<16x400xi32>, %p: tensor<16xi32>, %b: tensor<16xi32>)
    -> (tensor<16xi32>, tensor<16xi32>) {
  %r:2 = linalg.generic {
    indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
                     affine_map<(i, k) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x, %ix : tensor<16x400xi32>, tensor<16x400xi32>) outs(%p, %b : tensor<16xi32>, tensor<16xi32>) {
  ^bb0(%v: i32, %at: i32, %place: i32, %best: i32):
    %is_more = arith.cmpi sgt, %v, %best : i32
    %s = arith.select %is_more, %at, %place : i32
    %t = arith.select %is_more, %v, %best : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<16xi32>, tensor<16xi32>)
  return %r#0, %r#1 : tensor<16xi32>, tensor<16xi32>
}
