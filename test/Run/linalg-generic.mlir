// linalg.generic runs as upstream's loops, and is checked against what the oracle makes of it.
//
// RUN: mdh run %s --check=all --entry product | FileCheck %s --check-prefix PRODUCT
// PRODUCT: check passed: 1200 of 1200 elements compared, largest error {{.*}}; {{1[12][0-9][0-9]}} told from zero
//
// RUN: mdh run %s --check=all --entry window --range=x=1..100 | FileCheck %s --check-prefix WINDOW
// WINDOW: check passed: 18 of 18 elements compared, no difference; 18 told from zero
//
// RUN: mdh run %s --check=all --entry places --range=x=1..2 | FileCheck %s --check-prefix PLACES
// PLACES: check passed: 24 of 24 elements compared, no difference; {{2[0-4]}} told from zero
//
// RUN: mdh run %s --check=all --entry places_of_maxima 2>&1 | FileCheck %s --check-prefix MAXIMA
// MAXIMA: 1 operation of linalg raised to computations: 1 linalg.generic
// MAXIMA: check passed: 74 of 74 elements compared, no difference; {{7[0-4]}} told from zero
//
// Where some may be none, this stays: in parts the place would be one of the last part.
// RUN: %python %S/Inputs/npy.py save %t.n.npy f4 "np.where(np.arange(100000) == 70001, np.nan, np.arange(100000) %% 977)[None]"
// RUN: mdh run %s --check=all --entry place_before --in x=%t.n.npy 2>&1 | FileCheck %s --check-prefix BEFORE
// BEFORE: warning: 'linalg.generic' op stays as it is: {{.*}} not associative where one is no number
// BEFORE: check passed: 2 of 2 elements compared, no difference
//
// RUN: mdh run %s --check=all --entry wrapped --range=x=1..100 | FileCheck %s --check-prefix WRAPPED
// WRAPPED: check passed: 8 of 8 elements compared, no difference; 8 told from zero
//
// What sums may be off by goes on into what is made of them.
// RUN: mdh run %s --check=all --entry weights --range=x=0..1 | FileCheck %s --check-prefix WEIGHTS
// WEIGHTS: check passed: 200 of 200 elements compared, {{.*}}; 200 told from zero
//
// RUN: mdh run %s --check=all --entry in_place --range=x=1..2 | FileCheck %s --check-prefix INPLACE
// INPLACE: check passed: 35 of 35 elements compared, {{.*}}; 35 told from zero
//
// Sizes that do not fit are found before anything runs.
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.ones((3, 4))"
// RUN: %python %S/Inputs/npy.py save %t.y.npy f4 "np.ones(4)"
// RUN: %python %S/Inputs/npy.py save %t.z.npy f4 "np.ones(3)"
// RUN: mdh run %s --check --entry rows --in x=%t.x.npy y=%t.z.npy | FileCheck %s --check-prefix ROWS
// ROWS: check passed: 3 of 3 elements compared, no difference; 3 told from zero
// RUN: not mdh run %s --check --entry rows --in x=%t.x.npy y=%t.y.npy 2>&1 | FileCheck %s --check-prefix UNFIT
// UNFIT: linalg-generic.mlir:[[# @LINE + 68]]:{{.*}} error: 'linalg.generic' op has operands of extents that do not fit: loop 0 runs over 3 indices for operand 0, over 4 for operand 1: expected the same

// A scalar from outside, and a destination whose elements count.
func.func @product(%x: tensor<40x50xf32>, %w: tensor<50x30xf32>, %c: tensor<40x30xf32>) -> tensor<40x30xf32> {
  %two = arith.constant 2.0 : f32
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : tensor<40x50xf32>, tensor<50x30xf32>) outs(%c : tensor<40x30xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %double = arith.mulf %a, %two : f32
    %m = arith.mulf %double, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<40x30xf32>
  return %y : tensor<40x30xf32>
}

// The second input says only how large the window is.
func.func @window(%x: tensor<3x14xi32>) -> tensor<3x6xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x6xi32>
  %window = tensor.empty() : tensor<4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<3x6xi32>) -> tensor<3x6xi32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, 2 * j + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %window : tensor<3x14xi32>, tensor<4xi32>) outs(%init : tensor<3x6xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.maxsi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<3x6xi32>
  return %y : tensor<3x6xi32>
}

// Two results that belong together.
func.func @places(%x: tensor<12x9xf32>) -> (tensor<12xf32>, tensor<12xi32>) {
  %best = arith.constant dense<0.0> : tensor<12xf32>
  %at = arith.constant dense<-1> : tensor<12xi32>
  %y:2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<12x9xf32>) outs(%best, %at : tensor<12xf32>, tensor<12xi32>) {
  ^bb0(%a: f32, %o: f32, %p: i32):
    %j = linalg.index 1 : index
    %q = arith.index_cast %j : index to i32
    %more = arith.cmpf ogt, %a, %o : f32
    %value = arith.select %more, %a, %o : f32
    %place = arith.select %more, %q, %p : i32
    linalg.yield %value, %place : f32, i32
  } -> (tensor<12xf32>, tensor<12xi32>)
  return %y#0, %y#1 : tensor<12xf32>, tensor<12xi32>
}

func.func @wrapped(%x: tensor<3xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i) -> ((i * 5 + 1) mod 3)>, affine_map<(i) -> (i floordiv 4)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%x, %x : tensor<3xi32>, tensor<3xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}

func.func @rows(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<?x?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @weights(%x: tensor<20x10xf32>) -> tensor<20x10xf32> {
  %zero = arith.constant dense<0.0> : tensor<20xf32>
  %sums = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<20x10xf32>) outs(%zero : tensor<20xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  %empty = tensor.empty() : tensor<20x10xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x, %sums : tensor<20x10xf32>, tensor<20xf32>) outs(%empty : tensor<20x10xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %e = math.exp %a : f32
    %w = arith.divf %e, %b : f32
    linalg.yield %w : f32
  } -> tensor<20x10xf32>
  return %y : tensor<20x10xf32>
}

func.func @in_place(%x: memref<5x7xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<5x7xf32>) outs(%x : memref<5x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %o : f32
    linalg.yield %s : f32
  }
  return
}

// The best and its place as torch-mlir writes them, but for the flag: the best as a maximum, and both in axes of one index.
func.func @places_of_maxima(%x: tensor<37x211xf32>) -> (tensor<37x1xf32>, tensor<37x1xi64>) {
  %best = arith.constant dense<0xFF800000> : tensor<37x1xf32>
  %at = arith.constant dense<0> : tensor<37x1xi64>
  %y:2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, 0)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<37x211xf32>) outs(%best, %at : tensor<37x1xf32>, tensor<37x1xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %j = linalg.index 1 : index
    %q = arith.index_cast %j : index to i64
    %value = arith.maximumf %a, %o : f32
    %more = arith.cmpf ogt, %a, %o fastmath<nnan> : f32
    %place = arith.select %more, %q, %p : i64
    linalg.yield %value, %place : f32, i64
  } -> (tensor<37x1xf32>, tensor<37x1xi64>)
  return %y#0, %y#1 : tensor<37x1xf32>, tensor<37x1xi64>
}

func.func @place_before(%x: tensor<1x100000xf32>) -> (tensor<1x1xf32>, tensor<1x1xi64>) {
  %best = arith.constant dense<0xFF800000> : tensor<1x1xf32>
  %at = arith.constant dense<0> : tensor<1x1xi64>
  %y:2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, 0)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%x : tensor<1x100000xf32>) outs(%best, %at : tensor<1x1xf32>, tensor<1x1xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %j = linalg.index 1 : index
    %q = arith.index_cast %j : index to i64
    %value = arith.maximumf %a, %o : f32
    %more = arith.cmpf ogt, %a, %o : f32
    %place = arith.select %more, %q, %p : i64
    linalg.yield %value, %place : f32, i64
  } -> (tensor<1x1xf32>, tensor<1x1xi64>)
  return %y#0, %y#1 : tensor<1x1xf32>, tensor<1x1xi64>
}
