// Elements that bodies take from tensors by themselves.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

// The same element is one input.
// CHECK-LABEL: func.func @convolved
// CHECK:       mdh.compute (i = 20, k = 5)
// CHECK:         md_hom((%{{.*}}: f32, %{{.*}}: f32) {
// CHECK:         inp_view(in = %{{.*}}[k] : tensor<5xf32>, in_1 = %{{.*}}[i + k + 1] : tensor<25xf32>)
func.func @convolved(%x: tensor<25xf32>, %w: tensor<5xf32>, %f: tensor<20xf32>) -> tensor<20xf32> {
  %one = arith.constant 1 : i32
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<5xf32>) outs(%f : tensor<20xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %i4 = arith.index_cast %i : index to i32
    %less = arith.addi %i4, %one : i32
    %at = arith.index_cast %less : i32 to index
    %ik = arith.addi %at, %k : index
    %a = tensor.extract %x[%ik] : tensor<25xf32>
    %again = tensor.extract %x[%ik] : tensor<25xf32>
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %again : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %y : tensor<20xf32>
}

// -----

// Where it is not extracted there may be no element, and padding is read.
// CHECK-LABEL: func.func @conditional
// CHECK:       inp_view(before = %{{.*}}[i] : tensor<20xf32>, in = %{{.*}}[i] pad(0.000000e+00 : f32) : tensor<8xf32>)
func.func @conditional(%t: tensor<8xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %eight = arith.constant 8 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %is_in = arith.cmpi slt, %i, %eight : index
    %s = scf.if %is_in -> f32 {
      %a = tensor.extract %t[%i] : tensor<8xf32>
      scf.yield %a : f32
    } else {
      scf.yield %o : f32
    }
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// What a loop of the body extracts is many elements.
// CHECK-LABEL: func.func @looped
// CHECK:       linalg.generic
func.func @looped(%t: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // expected-remark@+1 {{its body has 'tensor.extract' in a loop: expected it in each iteration}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %s = scf.for %k = %c0 to %c5 step %c1 iter_args(%sum = %o) -> f32 {
      %a = tensor.extract %t[%i] : tensor<20xf32>
      %more = arith.addf %sum, %a : f32
      scf.yield %more : f32
    }
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// A square is no index function.
// CHECK-LABEL: func.func @square
// CHECK:       linalg.generic
func.func @square(%t: tensor<400xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  // expected-remark@+1 {{at an index that 'arith.muli' makes, which is no sum with constant factors or may leave its type: expected one that is computed}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %ii = arith.muli %i, %i : index
    %a = tensor.extract %t[%ii] : tensor<400xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// The first iteration takes what is not there: as it is written, anything may happen then.
// CHECK-LABEL: func.func @before
// CHECK:       linalg.generic
func.func @before(%t: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %one = arith.constant 1 : index
  // expected-remark@+1 {{'linalg.generic' op stays as it is: as a computation, it}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %before = arith.subi %i, %one : index
    %a = tensor.extract %t[%before] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}
