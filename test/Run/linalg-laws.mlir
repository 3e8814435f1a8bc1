// What a program says of the operators of linalg is tested on what is raised: a wrong licence has a
// counter-example at its operation's line, a right one is counted.
//
// RUN: not mdh run %s --entry wrong --check-laws 2>&1 | FileCheck %s --check-prefix WRONG
// WRONG:      error: 'wrong' declares laws that do not hold:
// WRONG-NEXT:   {{.*}}linalg-laws.mlir:[[@LINE+37]]:8: operator 'merge' is not associative: for x = ({{.*}}), y = ({{.*}}), z = ({{.*}}), f(f(x, y), z) = {{.*}}, but f(x, f(y, z)) = {{.*}}
// WRONG-NEXT:   {{.*}}linalg-laws.mlir:[[@LINE+36]]:8: operator 'merge' is not commutative: for x = ({{.*}}), y = ({{.*}}), f(x, y) = {{.*}}, but f(y, x) = {{.*}}
//
// Without the licence there is nothing to be wrong.
// RUN: sed 's/ attrs = {mdh.associative, mdh.commutative}//' %s > %t.mlir
// RUN: mdh run %t.mlir --entry wrong --check-laws 2>&1 | FileCheck %s --check-prefix NONE
// NONE: laws   none is declared
//
// RUN: not mdh run %s --entry in_memory --check-laws 2>&1 | FileCheck %s --check-prefix MEMORY
// MEMORY: linalg-laws.mlir:[[@LINE+38]]:3: operator 'merge' is not associative: for x =
//
// A check of results asks the laws of what the program itself combines: of an operator that must not be
// reordered, whatever comes out would be within the bound of what reordering changes. Without the licence the
// same is checked as it is.
// RUN: not mdh run %s --entry distance --random 1 --check=all 2>&1 | FileCheck %s --check-prefix DISTANCE
// RUN: not mdh run %s --entry distance --random 1 --check=all --no-raise 2>&1 | FileCheck %s --check-prefix DISTANCE
// RUN: not mdh run %s --entry wrong --random 1 --check 2>&1 | FileCheck %s --check-prefix ELEMENTS
// DISTANCE-NOT: check passed
// DISTANCE:      error: the program declares a law that its own elements refute, so that no result can be told from a wrong one:
// DISTANCE-NEXT: {{.*}}linalg-laws.mlir:[[@LINE+50]]:8: operator 'merge' is not associative: for x = ({{.*}}), y = ({{.*}}), z = ({{.*}}), f(f(x, y), z) = ({{.*}}), but f(x, f(y, z)) = ({{.*}})
// DISTANCE-NEXT: help: leave out that it is associative; '--check-laws' tests what is declared on small numbers
// ELEMENTS: error: the result is not what the definition says: 'out' at []
// RUN: not mdh run %s --entry distance --random 1 --check --json | FileCheck %s --check-prefix JSON
// JSON: {"error":"the program declares a law that its own elements refute
// RUN: sed 's/ attrs = {mdh.associative, mdh.commutative}//' %s > %t.mlir
// RUN: mdh run %t.mlir --entry distance --random 1 --check=all 2>&1 | FileCheck %s --check-prefix UNLICENSED
// UNLICENSED: check passed: 1 of 1 elements compared, no difference; 1 told from zero
// RUN: mdh run %s --entry right --random 1 --check=all 2>&1 | FileCheck %s --check-prefix CHECKED
// CHECKED: check passed: 1 of 1 elements compared, no difference
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

func.func @distance(%x: tensor<100xf32>, %y: tensor<f32>) -> tensor<f32> {
  %z = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%y : tensor<f32>) attrs = {mdh.associative, mdh.commutative} {
  ^bb0(%a: f32, %o: f32):
    %d = arith.subf %o, %a : f32
    %s = math.absf %d : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %z : tensor<f32>
}
