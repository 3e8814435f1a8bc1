// Elements that bodies take from tensors by themselves, at indices of their loops, are inputs.
//
// RUN: mdh run %s --check=all --entry gathered --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,GATHERED
// RUN: mdh run %s --check=all --entry convolved --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,CONVOLVED
// RUN: mdh run %s --check=all --entry open --size i=9 --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,OPEN
// RAISED: note: 1 operation of linalg raised to computations: 1 linalg.generic
// GATHERED: check passed: 56 of 56 elements compared
// CONVOLVED: check passed: 20 of 20 elements compared
// OPEN: check passed: 9 of 9 elements compared

func.func @gathered(%t: tensor<20x30xi32>, %c: tensor<i32>) -> tensor<7x8xi32> {
  %e = tensor.empty() : tensor<7x8xi32>
  %two = arith.constant 2 : index
  %last = arith.constant 19 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<7x8xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i2 = arith.muli %i, %two : index
    %row = arith.subi %last, %i2 : index
    %column = arith.addi %i2, %j : index
    %a = tensor.extract %t[%row, %column] : tensor<20x30xi32>
    %b = tensor.extract %t[%j, %two] : tensor<20x30xi32>
    %d = tensor.extract %c[] : tensor<i32>
    %again = tensor.extract %t[%row, %column] : tensor<20x30xi32>
    %s = arith.muli %a, %b : i32
    %u = arith.addi %s, %d : i32
    %v = arith.xori %u, %again : i32
    linalg.yield %v : i32
  } -> tensor<7x8xi32>
  return %y : tensor<7x8xi32>
}

func.func @convolved(%x: tensor<24xf32>, %w: tensor<5xf32>) -> tensor<20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20xf32>) -> tensor<20xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<5xf32>) outs(%f : tensor<20xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %ik = arith.addi %i, %k : index
    %a = tensor.extract %x[%ik] : tensor<24xf32>
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %y : tensor<20xf32>
}

func.func @open(%x: tensor<?xi64>, %t: tensor<100xi64>) -> tensor<?xi64> {
  %three = arith.constant 3 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %at = arith.addi %i, %three : index
    %a = tensor.extract %t[%at] : tensor<100xi64>
    %s = arith.addi %a, %o : i64
    linalg.yield %s : i64
  } -> tensor<?xi64>
  return %y : tensor<?xi64>
}
