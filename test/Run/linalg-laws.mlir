// What a program says of the operators of linalg is tested on what is raised: a wrong licence has a
// counter-example at its operation's line, a right one is counted.
//
// RUN: not mdh run %s --entry wrong --check-laws 2>&1 | FileCheck %s --check-prefix WRONG
// WRONG:      error: 'wrong' declares laws that do not hold:
// WRONG-NEXT:   {{.*}}linalg-laws.mlir:[[@LINE+18]]:8: operator 'merge' is not associative: for x = ({{.*}}), y = ({{.*}}), z = ({{.*}}), f(f(x, y), z) = {{.*}}, but f(x, f(y, z)) = {{.*}}
// WRONG-NEXT:   {{.*}}linalg-laws.mlir:[[@LINE+17]]:8: operator 'merge' is not commutative: for x = ({{.*}}), y = ({{.*}}), f(x, y) = {{.*}}, but f(y, x) = {{.*}}
//
// Without the licence there is nothing to be wrong.
// RUN: sed 's/ attrs = {mdh.associative, mdh.commutative}//' %s > %t.mlir
// RUN: mdh run %t.mlir --entry wrong --check-laws 2>&1 | FileCheck %s --check-prefix NONE
// NONE: laws   none is declared
//
// RUN: not mdh run %s --entry in_memory --check-laws 2>&1 | FileCheck %s --check-prefix MEMORY
// MEMORY: linalg-laws.mlir:[[@LINE+19]]:3: operator 'merge' is not associative: for x =
//
// RUN: mdh run %s --entry right --check-laws 2>&1 | FileCheck %s --check-prefix RIGHT
// RIGHT: laws   hold: 2 laws of 1 operator tested on 1000 random tuples of finite numbers

#all = affine_map<(k) -> (k)>
#one = affine_map<(k) -> ()>

func.func @wrong(%x: tensor<100xi32>, %y: tensor<i32>) -> tensor<i32> {
  %z = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<100xi32>) outs(%y : tensor<i32>) attrs = {mdh.associative, mdh.commutative} {
  ^bb0(%a: i32, %o: i32):
    %s = arith.subi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %z : tensor<i32>
}

func.func @in_memory(%x: memref<100xi32>, %y: memref<i32>) {
  linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : memref<100xi32>) outs(%y : memref<i32>) attrs = {mdh.associative} {
  ^bb0(%a: i32, %o: i32):
    %s = arith.subi %a, %o : i32
    linalg.yield %s : i32
  }
  return
}

func.func @right(%x: tensor<100xi32>, %y: tensor<i32>) -> tensor<i32> {
  %z = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<100xi32>) outs(%y : tensor<i32>) attrs = {mdh.associative, mdh.commutative} {
  ^bb0(%a: i32, %o: i32):
    %p = arith.muli %a, %o : i32
    %q = arith.addi %a, %o : i32
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %z : tensor<i32>
}
