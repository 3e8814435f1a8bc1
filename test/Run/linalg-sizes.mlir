// Sizes behind casts, of what stays linalg: dimensions of one name have sizes of their own.
//
// RUN: mdh run %s --check=all --entry behind --random 1 2>&1 | FileCheck %s --check-prefix BEHIND
// BEHIND: note: 2 operations of linalg raised
// BEHIND: check passed: 10 of 10 elements compared, no difference
//
// Sizes that nothing says but what the program makes of them are followed through it.
// RUN: mdh run %s --check=all --entry open --size i=6 --random 1 2>&1 | FileCheck %s --check-prefix OPEN
// OPEN: check passed: 12 of 12 elements compared, no difference

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
