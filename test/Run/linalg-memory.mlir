// Operations of linalg on memory that they share, in bodies with effects, and of unusual sizes and
// numbers: what is raised and what stays both give what linalg says.
//
// RUN: mdh run %s --check=all --entry same_memory 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RUN: mdh run %s --check=all --entry apart 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RAISED: note: 1 operation of linalg raised to computations
// RUN: mdh run %s --check=all --entry into_its_input 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// RUN: mdh run %s --check=all --entry transposed_in_place 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// RUN: mdh run %s --check=all --entry doubled 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// RUN: mdh run %s --check=all --entry overlap 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// RUN: mdh run %s --check=all --entry row_of_itself 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// RUN: mdh run %s --check=all --entry column_of_itself 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// STAYS: warning: 'linalg.{{.*}}' op stays as it is:
// PASSED: check passed:
//
// RUN: mdh run %s --check=all --entry stores 2>&1 | FileCheck %s --check-prefix STORES
// STORES: warning: 'linalg.generic' op stays as it is: its body has 'memref.store'
// STORES: check passed:
//
// RUN: mdh run %s --check --entry empty 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RUN: mdh run %s --check=all --entry no_products 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RUN: mdh run %s --check=all --entry largest_of_none 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
//
// RUN: %python %S/Inputs/npy.py save %t.nan.npy f4 "np.array([[1, np.nan, 2, -np.inf], [np.nan] * 4, [-0.0, 0.0, np.nan, -1], [np.inf, 3, np.nan, 5]])"
// RUN: mdh run %s --check=all --entry skips --in x=%t.nan.npy 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RUN: mdh run %s --check=all --entry forgets --in x=%t.nan.npy 2>&1 | FileCheck %s --check-prefixes STAYS,PASSED
// RUN: mdh run %s --check=all --entry best --in x=%t.nan.npy 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RUN: mdh run %s --check=all --entry propagates --in x=%t.nan.npy 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// RUN: mdh run %s --check=all --entry prefers --in x=%t.nan.npy 2>&1 | FileCheck %s --check-prefixes RAISED,PASSED
// Memory that is only read is an input, and what is written whole an output alone, raised or not.
// RUN: mdh run %s --check --entry roles --random 1 2>&1 | FileCheck %s --check-prefix ROWS
// RUN: mdh run %s --check --entry roles --random 1 --no-raise | FileCheck %s --check-prefix ROWS
// ROWS: {{^ in x }}
// ROWS-NEXT: {{^ in y }}
// ROWS-NEXT: {{^ out y }}
// ROWS-NEXT: {{^ out z }}
// ROWS-NOT: {{^ (in|out) }}
// ROWS: check passed: 14 of 14

func.func @roles(%x: memref<7x13xi32>, %y: memref<7xi32>, %z: memref<7xi32>) {
  %all = memref.collapse_shape %x [[0, 1]] : memref<7x13xi32> into memref<91xi32>
  %again = memref.expand_shape %all [[0, 1]] output_shape [7, 13] : memref<91xi32> into memref<7x13xi32>
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%again : memref<7x13xi32>) outs(%y : memref<7xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  }
  linalg.copy ins(%y : memref<7xi32>) outs(%z : memref<7xi32>)
  return
}

func.func @same_memory(%x: memref<5x7xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<5x7xi32>) outs(%x : memref<5x7xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.muli %a, %o : i32
    linalg.yield %s : i32
  }
  return
}

func.func @apart(%x: memref<8x8xi32>) {
  %a = memref.subview %x[0, 0] [4, 8] [1, 1] : memref<8x8xi32> to memref<4x8xi32, strided<[8, 1]>>
  %b = memref.subview %x[4, 0] [4, 8] [1, 1] : memref<8x8xi32> to memref<4x8xi32, strided<[8, 1], offset: 32>>
  linalg.copy ins(%a : memref<4x8xi32, strided<[8, 1]>>) outs(%b : memref<4x8xi32, strided<[8, 1], offset: 32>>)
  return
}

func.func @into_its_input(%x: memref<6x6xi32>, %w: memref<6x6xi32>) {
  linalg.matmul ins(%x, %w : memref<6x6xi32>, memref<6x6xi32>) outs(%x : memref<6x6xi32>)
  return
}

func.func @transposed_in_place(%x: memref<6x6xi32>) {
  linalg.transpose ins(%x : memref<6x6xi32>) outs(%x : memref<6x6xi32>) permutation = [1, 0]
  return
}

// What each iteration makes the next one reads, as an input too.
func.func @doubled(%x: memref<i32>, %n: memref<3xi32>) {
  linalg.generic {indexing_maps = [affine_map<(k) -> ()>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x, %n : memref<i32>, memref<3xi32>) outs(%x : memref<i32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  }
  return
}

func.func @overlap(%x: memref<40xi32>) {
  %a = memref.subview %x[0] [32] [1] : memref<40xi32> to memref<32xi32, strided<[1]>>
  %b = memref.subview %x[1] [32] [1] : memref<40xi32> to memref<32xi32, strided<[1], offset: 1>>
  linalg.copy ins(%a : memref<32xi32, strided<[1]>>) outs(%b : memref<32xi32, strided<[1], offset: 1>>)
  return
}

func.func @row_of_itself(%x: memref<8x8xi32>) {
  %r = memref.subview %x[3, 0] [1, 8] [1, 1] : memref<8x8xi32> to memref<8xi32, strided<[1], offset: 24>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : memref<8xi32, strided<[1], offset: 24>>) outs(%x : memref<8x8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  }
  return
}

func.func @column_of_itself(%x: memref<8x8xi32>) {
  %r = memref.subview %x[0, 3] [8, 1] [1, 1] : memref<8x8xi32> to memref<8xi32, strided<[8], offset: 3>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x8xi32>) outs(%r : memref<8xi32, strided<[8], offset: 3>>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  }
  return
}

func.func @stores(%x: memref<8xi32>, %m: memref<8xi32>, %y: memref<8xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xi32>) outs(%y : memref<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 0 : index
    memref.store %a, %m[%i] : memref<8xi32>
    linalg.yield %a : i32
  }
  return
}

func.func @empty(%x: tensor<0x4xf32>, %w: tensor<4x3xf32>, %o: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<0x4xf32>, tensor<4x3xf32>) outs(%o : tensor<0x3xf32>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

func.func @no_products(%x: tensor<2x0xf32>, %w: tensor<0x3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<2x0xf32>, tensor<0x3xf32>) outs(%o : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @largest_of_none(%x: tensor<2x0xf32>) -> tensor<2xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2xf32>
  %o = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = linalg.reduce { arith.maximumf } ins(%x : tensor<2x0xf32>) outs(%o : tensor<2xf32>) dimensions = [1]
  return %y : tensor<2xf32>
}

#rows = {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}

func.func @skips(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %y = linalg.generic #rows ins(%x : tensor<4x4xf32>) outs(%low : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %a, %o : f32
    %s = arith.select %c, %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @forgets(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %y = linalg.generic #rows ins(%x : tensor<4x4xf32>) outs(%low : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %o, %a : f32
    %s = arith.select %c, %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @best(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %none = arith.constant dense<-1> : tensor<4xi32>
  %y:2 = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x4xf32>) outs(%low, %none : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %o: f32, %p: i32):
    %k = linalg.index 1 : index
    %q = arith.index_cast %k : index to i32
    %c = arith.cmpf ogt, %a, %o : f32
    %s = arith.select %c, %a, %o : f32
    %t = arith.select %c, %q, %p : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xi32>
}

func.func @propagates(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %low = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.reduce { arith.minimumf } ins(%x : tensor<4x4xf32>) outs(%low : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}

func.func @prefers(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %low = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.reduce { arith.maxnumf } ins(%x : tensor<4x4xf32>) outs(%low : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}

// Sizes that do not fit are found, with a check and without one.
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.ones((3, 4))"
// RUN: %python %S/Inputs/npy.py save %t.long.npy f4 "np.ones(4)"
// RUN: %python %S/Inputs/npy.py save %t.short.npy f4 "np.ones(2)"
// RUN: not mdh run %s --entry rows --in x=%t.x.npy y=%t.long.npy 2>&1 | FileCheck %s --check-prefix UNFIT
// RUN: not mdh run %s --entry rows --in x=%t.x.npy y=%t.short.npy 2>&1 | FileCheck %s --check-prefix UNFIT
// UNFIT: linalg-memory.mlir:[[# @LINE + 2]]:{{[0-9]+}}: error: '{{.*}}' op
func.func @rows(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%y : tensor<?xf32>) dimensions = [1]
  return %z : tensor<?xf32>
}
