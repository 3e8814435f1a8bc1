// Accumulation by code that only compares and chooses: its laws are decided, in whatever way it is written.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>

// What is no number is the best, ties go to the smaller place: parts can be combined, though not in any order, since of
// two that are no number it is the first one.
// CHECK-LABEL: func.func @smaller_place
// CHECK:       md_hom(id, (cc, pw(select)))
// CHECK:       combine select associative (
// CHECK:       carry k
func.func @smaller_place(%x: tensor<7x13xf32>, %p: tensor<7x13xi32>, %m: tensor<7xf32>, %n: tensor<7xi32>)
    -> (tensor<7xf32>, tensor<7xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<7x13xf32>, tensor<7x13xi32>) outs(%m, %n : tensor<7xf32>, tensor<7xi32>) {
  ^bb0(%a: f32, %i: i32, %o: f32, %q: i32):
    %1 = arith.cmpf ogt, %o, %a : f32
    %2 = arith.cmpf une, %o, %o : f32
    %3 = arith.ori %1, %2 : i1
    %4 = arith.select %3, %o, %a : f32
    %5 = arith.cmpf oeq, %o, %a : f32
    %6 = arith.cmpi slt, %q, %i : i32
    %7 = arith.andi %5, %6 : i1
    %8 = arith.ori %3, %7 : i1
    %9 = arith.select %8, %q, %i : i32
    linalg.yield %4, %9 : f32, i32
  } -> (tensor<7xf32>, tensor<7xi32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi32>
}

// The same from its neutral element: nothing is carried.
// CHECK-LABEL: func.func @from_neutral
// CHECK:       combine select associative neutral(0xFF800000 : f32, 2147483647 : i32) (
// CHECK-NOT:   carry
// CHECK:       return
func.func @from_neutral(%x: tensor<7x13xf32>, %p: tensor<7x13xi32>) -> (tensor<7xf32>, tensor<7xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %most = arith.constant 2147483647 : i32
  %e = tensor.empty() : tensor<7xf32>
  %f = tensor.empty() : tensor<7xi32>
  %m = linalg.fill ins(%low : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %n = linalg.fill ins(%most : i32) outs(%f : tensor<7xi32>) -> tensor<7xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<7x13xf32>, tensor<7x13xi32>) outs(%m, %n : tensor<7xf32>, tensor<7xi32>) {
  ^bb0(%a: f32, %i: i32, %o: f32, %q: i32):
    %1 = arith.cmpf ogt, %o, %a : f32
    %2 = arith.cmpf une, %o, %o : f32
    %3 = arith.ori %1, %2 : i1
    %4 = arith.select %3, %o, %a : f32
    %5 = arith.cmpf oeq, %o, %a : f32
    %6 = arith.cmpi slt, %q, %i : i32
    %7 = arith.andi %5, %6 : i1
    %8 = arith.ori %3, %7 : i1
    %9 = arith.select %8, %q, %i : i32
    linalg.yield %4, %9 : f32, i32
  } -> (tensor<7xf32>, tensor<7xi32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi32>
}

// -----

#all = affine_map<(i, k) -> (i, k)>
#one = affine_map<(i, k) -> ()>

// Over two loops, with one place for both: of integers the smaller place makes it commutative.
// CHECK-LABEL: func.func @over_two_loops
// CHECK:       (pw(select), pw(select)))
// CHECK:       combine select commutative associative (
func.func @over_two_loops(%x: tensor<7x13xi32>, %m: tensor<i32>, %p: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %c13 = arith.constant 13 : index
  %r:2 = linalg.generic {indexing_maps = [#all, #one, #one], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%m, %p : tensor<i32>, tensor<i32>) {
  ^bb0(%a: i32, %o: i32, %q: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l = arith.muli %i, %c13 : index
    %n = arith.addi %l, %j : index
    %k = arith.index_cast %n : index to i32
    %1 = arith.cmpi slt, %o, %a : i32
    %4 = arith.select %1, %o, %a : i32
    %5 = arith.cmpi eq, %o, %a : i32
    %6 = arith.cmpi slt, %q, %k : i32
    %7 = arith.andi %5, %6 : i1
    %8 = arith.ori %1, %7 : i1
    %9 = arith.select %8, %q, %k : i32
    linalg.yield %4, %9 : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// With two places, and floats that the program says are numbers.
// CHECK-LABEL: func.func @two_places
// CHECK:       combine select commutative associative (
func.func @two_places(%x: tensor<7x13xf32>, %m: tensor<f32>, %p: tensor<i32>, %s: tensor<i32>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %r:3 = linalg.generic {indexing_maps = [#all, #one, #one, #one], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p, %s : tensor<f32>, tensor<i32>, tensor<i32>) {
  ^bb0(%a: f32, %o: f32, %q: i32, %t: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %1 = arith.cmpf ogt, %o, %a fastmath<nnan> : f32
    %5 = arith.cmpf oeq, %o, %a fastmath<nnan> : f32
    %6 = arith.cmpi slt, %q, %ii : i32
    %e = arith.cmpi eq, %q, %ii : i32
    %g = arith.cmpi slt, %t, %jj : i32
    %h = arith.andi %e, %g : i1
    %k = arith.ori %6, %h : i1
    %7 = arith.andi %5, %k : i1
    %8 = arith.ori %1, %7 : i1
    %9 = arith.select %8, %o, %a : f32
    %10 = arith.select %8, %q, %ii : i32
    %11 = arith.select %8, %t, %jj : i32
    linalg.yield %9, %10, %11 : f32, i32, i32
  } -> (tensor<f32>, tensor<i32>, tensor<i32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Where they may be none, the order matters.
#all = affine_map<(i, k) -> (i, k)>
#one = affine_map<(i, k) -> ()>
// CHECK-LABEL: func.func @first_of_none
// CHECK:       linalg.generic
func.func @first_of_none(%x: tensor<7x13xf32>, %p: tensor<7x13xi32>, %m: tensor<f32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates over several loops by an operator that is not commutative, for x = (NaN, 0), y = (NaN, 1), f(x, y) = (NaN, 0), but f(y, x) = (NaN, 1): expected 'fastmath<nnan>' on each 'arith.cmpf', where all are numbers}}
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #one, #one], iterator_types = ["reduction", "reduction"]}
      ins(%x, %p : tensor<7x13xf32>, tensor<7x13xi32>) outs(%m, %n : tensor<f32>, tensor<i32>) {
  ^bb0(%a: f32, %i: i32, %o: f32, %q: i32):
    %1 = arith.cmpf ogt, %o, %a : f32
    %2 = arith.cmpf une, %o, %o : f32
    %3 = arith.ori %1, %2 : i1
    %4 = arith.select %3, %o, %a : f32
    %5 = arith.cmpf oeq, %o, %a : f32
    %6 = arith.cmpi slt, %q, %i : i32
    %7 = arith.andi %5, %6 : i1
    %8 = arith.ori %3, %7 : i1
    %9 = arith.select %8, %q, %i : i32
    linalg.yield %4, %9 : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}

// -----

// The first of the best over two loops depends on their order, whatever the numbers are.
#all = affine_map<(i, k) -> (i, k)>
#one = affine_map<(i, k) -> ()>
// CHECK-LABEL: func.func @first_of_equals
// CHECK:       linalg.generic
func.func @first_of_equals(%x: tensor<7x13xi32>, %p: tensor<7x13xi32>, %m: tensor<i32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  // expected-remark@+1 {{not commutative, for x = (0, 0), y = (0, 1), f(x, y) = (0, 0), but f(y, x) = (0, 1): expected one loop, or that what is chosen does not depend on the order}}
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #one, #one], iterator_types = ["reduction", "reduction"]}
      ins(%x, %p : tensor<7x13xi32>, tensor<7x13xi32>) outs(%m, %n : tensor<i32>, tensor<i32>) {
  ^bb0(%a: i32, %i: i32, %o: i32, %q: i32):
    %1 = arith.cmpi sgt, %a, %o : i32
    %4 = arith.select %1, %a, %o : i32
    %9 = arith.select %1, %i, %q : i32
    linalg.yield %4, %9 : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// -----

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>

// The place comes first, and what is no number stays once it is there.
// CHECK-LABEL: func.func @place_first
// CHECK-NOT:   arith.cmpf
// CHECK:       combine select associative (
func.func @place_first(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%p, %m : tensor<7xi32>, tensor<7xf32>) {
  ^bb0(%a: f32, %q: i32, %o: f32):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i32
    %1 = arith.cmpf ugt, %a, %o : f32
    %2 = arith.cmpf ord, %o, %o : f32
    %3 = arith.andi %1, %2 : i1
    %4 = arith.select %3, %a, %o : f32
    %9 = arith.select %3, %i, %q : i32
    linalg.yield %9, %4 : i32, f32
  } -> (tensor<7xi32>, tensor<7xf32>)
  return %r#0, %r#1 : tensor<7xi32>, tensor<7xf32>
}

// Branches that only choose; the last of the least.
// CHECK-LABEL: func.func @branches
// CHECK:       combine select associative (
// CHECK-NOT:   scf.if
// CHECK:       return
func.func @branches(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi64>) -> (tensor<7xf32>, tensor<7xi64>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %1 = arith.cmpf olt, %o, %a : f32
    %2 = arith.cmpf uno, %o, %o : f32
    %3 = arith.ori %1, %2 : i1
    %4:2 = scf.if %3 -> (f32, i64) {
      scf.yield %o, %q : f32, i64
    } else {
      scf.yield %a, %i : f32, i64
    }
    linalg.yield %4#0, %4#1 : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}

// One accumulator that passes over what is no number on both sides.
// CHECK-LABEL: func.func @over_none
// CHECK:       pw(by_maxnumf)
func.func @over_none(%x: tensor<7x13xf32>, %m: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.cmpf ogt, %a, %o : f32
    %2 = arith.cmpf uno, %o, %o : f32
    %3 = arith.ori %1, %2 : i1
    %4 = arith.select %3, %a, %o : f32
    linalg.yield %4 : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// An infinity in the place of what is no number would be chosen among its equals.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @last_of_best
// CHECK:       linalg.generic
// CHECK:       combine select associative
func.func @last_of_best(%x: tensor<7x13xf32>, %y: tensor<7x13xi32>, %m: tensor<7xf32>, %n: tensor<7xi32>, %p: tensor<7xi64>)
    -> (tensor<7xf32>, tensor<7xi64>, tensor<7xi32>, tensor<7xi64>) {
  // expected-remark@+1 {{not associative where one is no number, for x = (0.0, 0), y = (NaN, 0), z = (0.0, 1), f(f(x, y), z) = (0.0, 1), but f(x, f(y, z)) = (0.0, 0): where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf'}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %1 = arith.cmpf oge, %a, %o : f32
    %4 = arith.select %1, %a, %o : f32
    %9 = arith.select %1, %i, %q : i64
    linalg.yield %4, %9 : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  %s:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<7x13xi32>) outs(%n, %p : tensor<7xi32>, tensor<7xi64>) {
  ^bb0(%a: i32, %o: i32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %1 = arith.cmpi uge, %a, %o : i32
    %4 = arith.select %1, %a, %o : i32
    %9 = arith.select %1, %i, %q : i64
    linalg.yield %4, %9 : i32, i64
  } -> (tensor<7xi32>, tensor<7xi64>)
  return %r#0, %r#1, %s#0, %s#1 : tensor<7xf32>, tensor<7xi64>, tensor<7xi32>, tensor<7xi64>
}

// -----

// What is compared with is a constant.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @at_least
// CHECK:       pw(maxsi)
func.func @at_least(%x: tensor<7x13xi32>, %m: tensor<7xi32>) -> tensor<7xi32> {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%m : tensor<7xi32>) {
  ^bb0(%a: i32, %o: i32):
    %c = arith.constant 5 : i32
    %1 = arith.cmpi sge, %o, %c : i32
    %4 = arith.select %1, %o, %c : i32
    linalg.yield %4 : i32
  } -> tensor<7xi32>
  return %r : tensor<7xi32>
}

// A condition of an element alone belongs to the operator: the first that is no number is chosen.
// CHECK-LABEL: func.func @numbers
// CHECK:       combine select associative (
// CHECK:         arith.cmpf ord
func.func @numbers(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi32>) -> (tensor<7xf32>, tensor<7xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi32>) {
  ^bb0(%a: f32, %o: f32, %q: i32):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i32
    %1 = arith.cmpf ule, %a, %o : f32
    %2 = arith.cmpf uno, %o, %o : f32
    %3 = arith.cmpf ord, %a, %a : f32
    %4 = arith.andi %1, %3 : i1
    %5 = arith.ori %4, %2 : i1
    %6 = arith.select %5, %o, %a : f32
    %7 = arith.select %5, %q, %i : i32
    linalg.yield %6, %7 : f32, i32
  } -> (tensor<7xf32>, tensor<7xi32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi32>
}

// -----

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>

// A maximum that keeps what is no number, beside a place that does not: that is the place of the largest before it, which
// a part that begins behind it does not know.
// CHECK-LABEL: func.func @beside_maximum
// CHECK:       linalg.generic
func.func @beside_maximum(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi64>) -> (tensor<7xf32>, tensor<7xi64>) {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body chooses by comparing floats in a way that is not associative where one is no number, for x = (0.0, 0), y = (1.0, 1), z = (NaN, 0), f(f(x, y), z) = (NaN, 1), but f(x, f(y, z)) = (NaN, 0): where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf', or 'mdh.associative' on the operation}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %s = arith.maximumf %a, %o : f32
    %c = arith.cmpf ogt, %a, %o : f32
    %t = arith.select %c, %i, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}

// CHECK-LABEL: func.func @beside_minimum
// CHECK:       linalg.generic
func.func @beside_minimum(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi64>) -> (tensor<7xf32>, tensor<7xi64>) {
  // expected-remark@+1 {{its body chooses by comparing floats in a way that is not associative where one is no number, for x = (0.0, 0), y = (-1.0, 1), z = (NaN, 0), f(f(x, y), z) = (NaN, 1), but f(x, f(y, z)) = (NaN, 0): where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf', or 'mdh.associative' on the operation}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %s = arith.minimumf %a, %o : f32
    %c = arith.cmpf olt, %a, %o : f32
    %t = arith.select %c, %i, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}

// Of numbers alone parts have what is needed.
// CHECK-LABEL: func.func @of_numbers
// CHECK:       (cc, pw(select)))
// CHECK:       combine select associative (
// CHECK:         arith.cmpf ogt, %{{.*}}, %{{.*}} fastmath<nnan> : f32
func.func @of_numbers(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi64>) -> (tensor<7xf32>, tensor<7xi64>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %s = arith.maximumf %a, %o : f32
    %c = arith.cmpf ogt, %a, %o fastmath<nnan> : f32
    %t = arith.select %c, %i, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}

// CHECK-LABEL: func.func @least_of_numbers
// CHECK:       combine select associative (
func.func @least_of_numbers(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi64>) -> (tensor<7xf32>, tensor<7xi64>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %s = arith.minimumf %a, %o : f32
    %c = arith.cmpf olt, %a, %o fastmath<nnan> : f32
    %t = arith.select %c, %i, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}

// What is granted although it does not hold is said.
// CHECK-LABEL: func.func @granted
// CHECK:       combine select associative (
func.func @granted(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %p: tensor<7xi64>) -> (tensor<7xf32>, tensor<7xi64>) {
  // expected-remark@+1 {{'linalg.generic' op is raised as 'mdh.associative' grants it: its body chooses by comparing floats in a way that is not associative where one is no number, for x = (0.0, 0), y = (1.0, 1), z = (NaN, 0), f(f(x, y), z) = (NaN, 1), but f(x, f(y, z)) = (NaN, 0)}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %p : tensor<7xf32>, tensor<7xi64>) attrs = {mdh.associative} {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %i = arith.index_cast %k : index to i64
    %s = arith.maximumf %a, %o : f32
    %c = arith.cmpf ogt, %a, %o : f32
    %t = arith.select %c, %i, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<7xf32>, tensor<7xi64>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xi64>
}
