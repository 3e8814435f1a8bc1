// What is combined in order is cut into parts that follow each other: for threads, and for blocks.
//
// RUN: mdh run %s --entry largest --device sim --random 1 --report --check=all 2>&1 | FileCheck %s
// RUN: mdh explain --verbose %s --entry largest --device h100 | FileCheck %s --check-prefix EXPLAIN
// RUN: mdh run %s --entry rows --device sim --random 1 --check=all | FileCheck %s --check-prefix ROWS
// RUN: mdh run %s --entry open --device sim --size k=5000 --random 1 --check=all | FileCheck %s --check-prefix OPEN
// RUN: mdh run %s --entry open --device sim --size k=3 --random 1 --check=all | FileCheck %s --check-prefix OPEN
// CHECK: sim {{ *}}2 launches, 6 blocks
// CHECK: check passed: 2 of 2 elements compared, no difference
// EXPLAIN: parts: each of 256 threads of a block has 16 points along 'k' that follow those of the one before
// ROWS: check passed: 6 of 6 elements compared, no difference
// OPEN: check passed: 1 of 1 elements compared, no difference

// The first of the largest elements, and where it is.
func.func @largest(%x: tensor<20000xf32>) -> (tensor<f32>, tensor<i64>) {
  %none = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i64
  %e = tensor.empty() : tensor<f32>
  %p = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%none : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%c0 : i64) outs(%p : tensor<i64>) -> tensor<i64>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>, affine_map<(k) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<20000xf32>) outs(%f, %g : tensor<f32>, tensor<i64>) {
  ^bb0(%a: f32, %m: f32, %at: i64):
    %k = linalg.index 0 : index
    %here = arith.index_cast %k : index to i64
    %is_larger = arith.cmpf ogt, %a, %m : f32
    %v = arith.select %is_larger, %a, %m : f32
    %w = arith.select %is_larger, %here, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %r#0, %r#1 : tensor<f32>, tensor<i64>
}

// Of each row, x -> a x + b, one after the other.
func.func @rows(%a: tensor<3x7000xi32>, %b: tensor<3x7000xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %p = tensor.empty() : tensor<3xi32>
  %q = tensor.empty() : tensor<3xi32>
  %c, %d = mdh.compute (i = 3, k = 7000)
    out_view(c = %p[i] : tensor<3xi32>, d = %q[i] : tensor<3xi32>)
    md_hom(id, (cc, pw(then)))
    inp_view(a = %a[i, k] : tensor<3x7000xi32>, b = %b[i, k] : tensor<3x7000xi32>)
    combine then associative (%a0: i32, %b0: i32, %a1: i32, %b1: i32) {
      %ab = arith.muli %a0, %a1 : i32
      %t = arith.muli %a1, %b0 : i32
      %u = arith.addi %t, %b1 : i32
      mdh.yield %ab, %u : i32, i32
    }
  return %c, %d : tensor<3xi32>, tensor<3xi32>
}

func.func @open(%x: tensor<?xi32>) -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty() : tensor<i32>
  %y = mdh.compute (k = %n)
    out_view(y = %e[] : tensor<i32>)
    md_hom(id, (pw(last)))
    inp_view(x = %x[k] : tensor<?xi32>)
    combine last associative (%a: i32, %b: i32) {
      mdh.yield %b : i32
    }
  return %y : tensor<i32>
}
