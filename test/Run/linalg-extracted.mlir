// Elements that bodies take from tensors by themselves, at indices of their loops, are inputs.
//
// RAISED: note: 1 operation of linalg raised to computations: 1 linalg.generic
// RUN: mdh run %s --check=all --entry gathered --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,GATHERED
// RUN: mdh run %s --check=all --entry convolved --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,CONVOLVED
// RUN: mdh run %s --check=all --entry open --size i=9 --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,OPEN
// RUN: mdh run %s --check=all --entry bordered --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,BORDERED
// RUN: mdh run %s --check=all --entry bordered --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix BORDERED
// RUN: mdh run %s --check=all --entry triangle --size i=9 --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,TRIANGLE
// RUN: mdh run %s --check=all --entry doubled --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,DOUBLED
// RUN: mdh run %s --check=all --entry doubled --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix DOUBLED
// RUN: mdh run %s --check=all --entry shuffled --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,SHUFFLED
// RUN: mdh run %s --check=all --entry shuffled --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix SHUFFLED
// RUN: mdh run %s --check=all --entry blurred --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,BLURRED
// RUN: mdh run %s --check=all --entry blurred --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix BLURRED
// RUN: mdh run %s --check=all --entry halves --size i=9 --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,HALVES
// RUN: mdh run %s --check=all --entry halves --size i=9 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix HALVES
// RUN: mdh run %s --check=all --entry centred --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,CENTRED
// RUN: mdh run %s --check=all --entry centred --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix CENTRED
// RUN: mdh run %s --check=all --entry loaded --random 1 2>&1 | FileCheck %s --check-prefixes FILLED,LOADED
// RUN: mdh run %s --check=all --entry loaded --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix LOADED
// RUN: mdh run %s --check=all --entry shared --random 1 2>&1 | FileCheck %s --check-prefix SHARED
// FILLED: note: 2 operations of linalg raised to computations: 1 linalg.fill, 1 linalg.generic
// LOADED: check passed: 48 of 48 elements compared
// SHARED: warning: {{.*}}its body loads from memory that destination 0 may share
// SHARED: check passed: 8 of 8 elements compared
// DOUBLED: check passed: 480 of 480 elements compared
// SHUFFLED: check passed: 480 of 480 elements compared
// BLURRED: check passed: 42 of 42 elements compared
// HALVES: check passed: 9 of 9 elements compared
// CENTRED: check passed: 221 of 221 elements compared
// BORDERED: check passed: 63 of 63 elements compared
// TRIANGLE: check passed: 9 of 9 elements compared
//
// The branch that is taken must not look outside.
// RUN: not mdh run %s --check=all --entry outside --random 1 2>&1 | FileCheck %s --check-prefix OUTSIDE
// OUTSIDE: error: {{.*}}'input {{[0-9]}}' of shape [8] is accessed at [8]
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

// Padding that a body makes by itself.
func.func @bordered(%x: tensor<7x9xf32>, %w: tensor<3xf32>) -> tensor<7x9xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<7x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x9xf32>) -> tensor<7x9xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<3xf32>) outs(%f : tensor<7x9xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %jk = arith.addi %j, %k : index
    %at = arith.subi %jk, %one : index
    %is_behind = arith.cmpi sge, %at, %c0 : index
    %is_before = arith.cmpi slt, %at, %c9 : index
    %is_in = arith.andi %is_behind, %is_before : i1
    %a = scf.if %is_in -> f32 {
      %v = tensor.extract %x[%i, %at] : tensor<7x9xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<7x9xf32>
  return %y : tensor<7x9xf32>
}

// Branches in branches, of unknown sizes; the same element without a condition is another input.
func.func @triangle(%x: tensor<?xi32>, %t: tensor<8xi32>) -> tensor<?xi32> {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %seven = arith.constant 7 : i32
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %low = arith.cmpi slt, %i, %c5 : index
    %s = scf.if %low -> i32 {
      %above = arith.addi %i, %c3 : index
      %a = tensor.extract %t[%above] : tensor<8xi32>
      %is_first = arith.cmpi slt, %i, %c3 : index
      %b = scf.if %is_first -> i32 {
        %c = tensor.extract %t[%i] : tensor<8xi32>
        %d = arith.muli %a, %c : i32
        scf.yield %d : i32
      } else {
        scf.yield %a : i32
      }
      scf.yield %b : i32
    } else {
      scf.yield %seven : i32
    }
    %u = arith.addi %s, %o : i32
    linalg.yield %u : i32
  } -> tensor<?xi32>
  return %y : tensor<?xi32>
}

func.func @outside(%t: tensor<8xi32>, %x: tensor<9xi32>) -> tensor<9xi32> {
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<9xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %low = arith.cmpi slt, %i, %c6 : index
    %s = scf.if %low -> i32 {
      %above = arith.addi %i, %c3 : index
      %a = tensor.extract %t[%above] : tensor<8xi32>
      scf.yield %a : i32
    } else {
      scf.yield %o : i32
    }
    linalg.yield %s : i32
  } -> tensor<9xi32>
  return %y : tensor<9xi32>
}

// Twice as many rows and columns.
func.func @doubled(%x: tensor<3x5x8xf32>) -> tensor<3x10x16xf32> {
  %e = tensor.empty() : tensor<3x10x16xf32>
  %two = arith.constant 2 : index
  %y = linalg.generic {indexing_maps = [affine_map<(c, i, j) -> (c, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%e : tensor<3x10x16xf32>) {
  ^bb0(%o: f32):
    %c = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %row = arith.divui %i, %two : index
    %column = arith.floordivsi %j, %two : index
    %a = tensor.extract %x[%c, %row, %column] : tensor<3x5x8xf32>
    linalg.yield %a : f32
  } -> tensor<3x10x16xf32>
  return %y : tensor<3x10x16xf32>
}

// Channels become rows and columns.
func.func @shuffled(%x: tensor<12x5x8xi16>) -> tensor<3x10x16xi16> {
  %e = tensor.empty() : tensor<3x10x16xi16>
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : index
  %y = linalg.generic {indexing_maps = [affine_map<(c, i, j) -> (c, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%e : tensor<3x10x16xi16>) {
  ^bb0(%o: i16):
    %c = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %i4 = arith.index_cast %i : index to i32
    %j4 = arith.index_cast %j : index to i32
    %row4 = arith.divsi %i4, %two : i32
    %column4 = arith.divui %j4, %two : i32
    %row = arith.index_cast %row4 : i32 to index
    %column = arith.index_castui %column4 : i32 to index
    %in_row = arith.remsi %i4, %two : i32
    %in_column = arith.remui %j4, %two : i32
    %in2 = arith.muli %in_row, %two : i32
    %in4 = arith.addi %in2, %in_column : i32
    %in = arith.index_cast %in4 : i32 to index
    %c4 = arith.muli %c, %four : index
    %channel = arith.addi %c4, %in : index
    %a = tensor.extract %x[%channel, %row, %column] : tensor<12x5x8xi16>
    linalg.yield %a : i16
  } -> tensor<3x10x16xi16>
  return %y : tensor<3x10x16xi16>
}

// Three neighbours, where those at the ends are their own.
func.func @blurred(%x: tensor<6x7xf32>, %w: tensor<3xf32>) -> tensor<6x7xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 6 : index
  %e = tensor.empty() : tensor<6x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x7xf32>) -> tensor<6x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<3xf32>) outs(%f : tensor<6x7xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %jk = arith.addi %j, %k : index
    %before = arith.subi %jk, %one : index
    %low = arith.maxsi %before, %c0 : index
    %at = arith.minsi %low, %last : index
    %a = tensor.extract %x[%i, %at] : tensor<6x7xf32>
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x7xf32>
  return %y : tensor<6x7xf32>
}

func.func @halves(%x: tensor<?xi32>, %t: tensor<8xi32>) -> tensor<?xi32> {
  %two = arith.constant 2 : index
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %half = arith.divui %i, %two : index
    %a = tensor.extract %t[%half] : tensor<8xi32>
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %y : tensor<?xi32>
}

// In memory, where nothing else of the operation is.
func.func @loaded(%x: memref<3x4xf32>, %w: memref<2xf32>, %y: memref<6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  linalg.fill ins(%zero : f32) outs(%y : memref<6x8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w : memref<2xf32>) outs(%y : memref<6x8xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.divui %i, %two : index
    %column = arith.divsi %j, %two : index
    %a = memref.load %x[%row, %column] : memref<3x4xf32>
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Each element is that of the half, as it is when its turn comes.
func.func @shared(%y: memref<8xi32>) {
  %two = arith.constant 2 : index
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<8xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %half = arith.divui %i, %two : index
    %a = memref.load %y[%half] : memref<8xi32>
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  }
  return
}

// Samples between those that there are: quotients that are rounded to zero, of what is less than the divisor
// below it.
func.func @centred(%t: tensor<5x4xi32>) -> tensor<17x13xi32> {
  %e = tensor.empty() : tensor<17x13xi32>
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<17x13xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i1 = arith.subi %i, %one : index
    %row = arith.divsi %i1, %four : index
    %j2 = arith.subi %j, %two : index
    %j32 = arith.index_cast %j2 : index to i32
    %c32 = arith.divsi %j32, %three : i32
    %column = arith.index_cast %c32 : i32 to index
    %a = tensor.extract %t[%row, %column] : tensor<5x4xi32>
    linalg.yield %a : i32
  } -> tensor<17x13xi32>
  return %z : tensor<17x13xi32>
}
