// Coupled results: an arg-min beside a sum, and choices over several loops whose places are row-major indices.
// Ties and what is no number go as the loops do.
//
// RUN: %python %S/Inputs/npy.py save %t.rows.npy f4 "np.where(np.arange(16 * 133).reshape(16, 133) % 37 == 5, np.nan, np.random.default_rng(1).integers(-2, 3, (16, 133)))"
// RUN: %python %S/Inputs/npy.py save %t.hidden.npy f4 "np.where(np.arange(133) > np.arange(16)[:, None] * 5, -np.inf, np.random.default_rng(5).normal(size=(16, 133)))"
// RUN: %python %S/Inputs/npy.py save %t.images.npy f4 "np.where(np.arange(546).reshape(6, 7, 13) % 11 == 2, np.nan, np.random.default_rng(2).integers(-2, 3, (6, 7, 13)))"
// RUN: %python %S/Inputs/npy.py save %t.bytes.npy i1 "np.random.default_rng(3).integers(-2, 3, (7, 13))"
// RUN: %python %S/Inputs/npy.py save %t.byte.npy i1 "np.array(-2)"
// RUN: %python %S/Inputs/npy.py save %t.pooled.npy f4 "np.random.default_rng(4).integers(-2, 3, (2, 9, 11, 3))"
// RUN: mdh run %s --check=all --entry beside --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,BESIDE
// RUN: mdh run %s --check=all --entry image --in x=%t.images.npy 2>&1 | FileCheck %s --check-prefixes RAISED,IMAGE
// RUN: mdh run %s --check=all --entry pool --in x=%t.pooled.npy --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,POOL
// RUN: mdh run %s --check=all --entry last --in x=%t.bytes.npy b=%t.byte.npy 2>&1 | FileCheck %s --check-prefixes RAISED,LAST
// RUN: mdh run %s --check=all --entry beside --in x=%t.rows.npy 2>&1 | FileCheck %s --check-prefixes RAISED,BESIDE
// RUN: mdh run %s --check=all --entry lengths --random 1 2>&1 | FileCheck %s --check-prefixes BOTH,LENGTHS
// RUN: mdh run %s --check=all --entry lengths --in x=%t.rows.npy 2>&1 | FileCheck %s --check-prefixes BOTH,LENGTHS
// RUN: mdh run %s --check=all --entry of_mask --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,MASK
// RUN: mdh run %s --check=all --entry online --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,ONLINE
// RUN: mdh run %s --check=all --entry online --in x=%t.hidden.npy --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,ONLINE
// RUN: mdh run %s --check=all --entry ranks --random 1 2>&1 | FileCheck %s --check-prefixes BOTH,RANKS
// RUN: mdh run %s --check=all --entry ranks --in x=%t.rows.npy --random 1 2>&1 | FileCheck %s --check-prefixes BOTH,RANKS
// RUN: %python %S/Inputs/npy.py save %t.ends.npy f4 "np.where(np.arange(16 * 133).reshape(16, 133) % 3 == 0, -np.inf, np.random.default_rng(1).integers(-20, 30, (16, 133)))"
// RUN: mdh run %s --check=all --check-laws --entry places --in x=%t.rows.npy 2>&1 | FileCheck %s --check-prefixes RAISED,LAWS,FOUR
// RUN: mdh run %s --check=all --entry places --in x=%t.ends.npy 2>&1 | FileCheck %s --check-prefixes RAISED,FOUR
// RUN: mdh run %s --check=all --entry places --size i=16 k=1 --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,FOUR
// RUN: mdh run %s --check=all --check-laws --entry masked --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,LAWS,FOUR
// RUN: mdh run %s --check=all --check-laws --entry anded --in x=%t.rows.npy --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,LAWS,FOUR
// RUN: mdh run %s --check=all --entry anded --in x=%t.ends.npy --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,FOUR
// RUN: mdh run %s --check=all --entry branches --in x=%t.rows.npy --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,TWO
// RUN: mdh run %s --check=all --check-laws --entry numbers --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,LAWS,TWO
// RUN: %python %S/Inputs/npy.py save %t.image.npy f4 "np.random.default_rng(7).integers(-2, 3, (16, 133))"
// RUN: mdh run %s --check=all --entry whole --in x=%t.rows.npy 2>&1 | FileCheck %s --check-prefixes RAISED,LAST
// RUN: mdh run %s --check=all --check-laws --entry whole --in x=%t.image.npy 2>&1 | FileCheck %s --check-prefixes RAISED,LAWS,LAST
//
// Who declares that there is no NaN is told so where there is one.
// RUN: not mdh run %s --check=all --entry numbers --in x=%t.rows.npy --random 1 2>&1 | FileCheck %s --check-prefix NONE
// NONE: error: the result is not what the definition says: 'out' at
// NONE-NEXT: note: 'arith.cmpf' at {{.*}}linalg-coupled.mlir:{{[0-9:]+}} declares that it meets no NaN ('fastmath'), and there is one: what it makes of that may differ; leave out 'nnan', or give inputs without NaN
// RAISED: note: 1 operation of linalg raised to computations: 1 linalg.generic
// BOTH: note: 2 operations of linalg raised to computations: 2 linalg.generic
// LAWS: laws hold
// FOUR: check passed: 64 of 64
// TWO: check passed: 32 of 32
// LENGTHS: check passed: 64 of 64
// RANKS: check passed: 34 of 34
// MASK: check passed: 32 of 32
// ONLINE: check passed: 48 of 48
// BESIDE: check passed: 48 of 48
// IMAGE: check passed: 12 of 12
// POOL: check passed: 240 of 240
// LAST: check passed: 2 of 2

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
func.func @beside(%x: tensor<16x133xf32>) -> (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>) {
  %zero = arith.constant 0 : i32
  %zerof = arith.constant 0.0 : f32
  %most = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %ei = tensor.empty() : tensor<16xi32>
  %m = linalg.fill ins(%most : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.fill ins(%zerof : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %p = linalg.fill ins(%zero : i32) outs(%ei : tensor<16xi32>) -> tensor<16xi32>
  %r:3 = linalg.generic {indexing_maps = [#rows, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%m, %p, %s : tensor<16xf32>, tensor<16xi32>, tensor<16xf32>) {
  ^bb0(%in: f32, %best: f32, %place: i32, %sum: f32):
    %k = linalg.index 1 : index
    %at = arith.index_cast %k : index to i32
    %is_less = arith.cmpf olt, %in, %best : f32
    %v = arith.select %is_less, %in, %best : f32
    %q = arith.select %is_less, %at, %place : i32
    %t = arith.addf %sum, %in : f32
    linalg.yield %v, %q, %t : f32, i32, f32
  } -> (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2 : tensor<16xf32>, tensor<16xi32>, tensor<16xf32>
}

func.func @image(%x: tensor<6x7x13xf32>) -> (tensor<6xf32>, tensor<6xi64>) {
  %zero = arith.constant 0 : i64
  %width = arith.constant 13 : index
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6xf32>
  %ei = tensor.empty() : tensor<6xi64>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %p = linalg.fill ins(%zero : i64) outs(%ei : tensor<6xi64>) -> tensor<6xi64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (n)>, affine_map<(n, i, j) -> (n)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<6x7x13xf32>) outs(%m, %p : tensor<6xf32>, tensor<6xi64>) {
  ^bb0(%in: f32, %best: f32, %place: i64):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i64
    %is_more = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %is_more, %in, %best : f32
    %q = arith.select %is_more, %at, %place : i64
    linalg.yield %v, %q : f32, i64
  } -> (tensor<6xf32>, tensor<6xi64>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xi64>
}

func.func @pool(%x: tensor<2x9x11x3xf32>, %w: tensor<3x2xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x3xi32>) {
  %zero = arith.constant 0 : i32
  %width = arith.constant 11 : i32
  %two = arith.constant 2 : index
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x4x5x3xf32>
  %ei = tensor.empty() : tensor<2x4x5x3xi32>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %p = linalg.fill ins(%zero : i32) outs(%ei : tensor<2x4x5x3xi32>) -> tensor<2x4x5x3xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(n, h, v, c, k, l) -> (n, h * 2 + k, v * 2 + l, c)>, affine_map<(n, h, v, c, k, l) -> (k, l)>, affine_map<(n, h, v, c, k, l) -> (n, h, v, c)>, affine_map<(n, h, v, c, k, l) -> (n, h, v, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x9x11x3xf32>, tensor<3x2xf32>) outs(%m, %p : tensor<2x4x5x3xf32>, tensor<2x4x5x3xi32>) {
  ^bb0(%in: f32, %window: f32, %best: f32, %place: i32):
    %h = linalg.index 1 : index
    %v = linalg.index 2 : index
    %k = linalg.index 4 : index
    %l = linalg.index 5 : index
    %h2 = arith.muli %h, %two : index
    %v2 = arith.muli %two, %v : index
    %hk = arith.addi %h2, %k : index
    %vl = arith.addi %v2, %l : index
    %y = arith.index_cast %hk : index to i32
    %z = arith.index_cast %vl : index to i32
    %line = arith.muli %y, %width : i32
    %at = arith.addi %line, %z : i32
    %is_more = arith.cmpf ogt, %in, %best : f32
    %b = arith.select %is_more, %in, %best : f32
    %q = arith.select %is_more, %at, %place : i32
    linalg.yield %b, %q : f32, i32
  } -> (tensor<2x4x5x3xf32>, tensor<2x4x5x3xi32>)
  return %r#0, %r#1 : tensor<2x4x5x3xf32>, tensor<2x4x5x3xi32>
}
// Ties: the last one.
func.func @last(%x: tensor<7x13xi8>, %b: tensor<i8>) -> (tensor<i8>, tensor<index>) {
  %zero = arith.constant dense<-1> : tensor<index>
  %width = arith.constant 13 : index
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi8>) outs(%b, %zero : tensor<i8>, tensor<index>) {
  ^bb0(%in: i8, %best: i8, %place: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %is_more = arith.cmpi sge, %in, %best : i8
    %v = arith.select %is_more, %in, %best : i8
    %q = arith.select %is_more, %ij, %place : index
    linalg.yield %v, %q : i8, index
  } -> (tensor<i8>, tensor<index>)
  return %r#0, %r#1 : tensor<i8>, tensor<index>
}

// Indices under a bound: no place of a row beyond its length, in the two ways that front ends write.
func.func @lengths(%x: tensor<16x133xf32>) -> (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>, tensor<16xi32>) {
  %zero = arith.constant 0 : i32
  %bound = arith.constant 101 : index
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %ei = tensor.empty() : tensor<16xi32>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %p = linalg.fill ins(%zero : i32) outs(%ei : tensor<16xi32>) -> tensor<16xi32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%m, %p : tensor<16xf32>, tensor<16xi32>) {
  ^bb0(%in: f32, %best: f32, %place: i32):
    %k = linalg.index 1 : index
    %at = arith.index_cast %k : index to i32
    %is_in = arith.cmpi ult, %k, %bound : index
    %own = arith.select %is_in, %in, %least : f32
    %is_more = arith.cmpf ogt, %own, %best : f32
    %v = arith.select %is_more, %own, %best : f32
    %q = arith.select %is_more, %at, %place : i32
    linalg.yield %v, %q : f32, i32
  } -> (tensor<16xf32>, tensor<16xi32>)
  %s:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%m, %p : tensor<16xf32>, tensor<16xi32>) {
  ^bb0(%in: f32, %best: f32, %place: i32):
    %k = linalg.index 1 : index
    %at = arith.index_cast %k : index to i32
    %is_in = arith.cmpi ult, %k, %bound : index
    %is_more = arith.cmpf olt, %best, %in : f32
    %both = arith.andi %is_in, %is_more : i1
    %v = arith.select %both, %in, %best : f32
    %q = arith.select %both, %at, %place : i32
    linalg.yield %v, %q : f32, i32
  } -> (tensor<16xf32>, tensor<16xi32>)
  return %r#0, %r#1, %s#0, %s#1 : tensor<16xf32>, tensor<16xi32>, tensor<16xf32>, tensor<16xi32>
}

// The smallest number of those that a mask has, of integers.
func.func @of_mask(%x: tensor<16x133xi8>, %mask: tensor<16x133xi1>, %b: tensor<16xi8>, %p: tensor<16xi32>) -> (tensor<16xi8>, tensor<16xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mask : tensor<16x133xi8>, tensor<16x133xi1>) outs(%b, %p : tensor<16xi8>, tensor<16xi32>) {
  ^bb0(%in: i8, %is_in: i1, %best: i8, %place: i32):
    %k = linalg.index 1 : index
    %at = arith.index_cast %k : index to i32
    %is_less = arith.cmpi slt, %in, %best : i8
    %v = arith.select %is_less, %in, %best : i8
    %q = arith.select %is_less, %at, %place : i32
    %w = arith.select %is_in, %v, %best : i8
    %t = arith.select %is_in, %q, %place : i32
    linalg.yield %w, %t : i8, i32
  } -> (tensor<16xi8>, tensor<16xi32>)
  return %r#0, %r#1 : tensor<16xi8>, tensor<16xi32>
}

// Softmax in one pass: the largest exponent, and sums that are rescaled when it grows.
func.func @online(%x: tensor<16x133xf32>, %y: tensor<16x133xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %r:3 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<16x133xf32>, tensor<16x133xf32>) outs(%m, %s, %s : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %v: f32, %best: f32, %sum: f32, %weighted: f32):
    %new = arith.maximumf %best, %in : f32
    %down = arith.subf %best, %new fastmath<nnan> : f32
    %factor = math.exp %down : f32
    %up = arith.subf %in, %new fastmath<nnan> : f32
    %p = math.exp %up : f32
    %scaled = arith.mulf %sum, %factor : f32
    %next = arith.addf %scaled, %p : f32
    %pv = arith.mulf %p, %v : f32
    %other = arith.mulf %factor, %weighted : f32
    %nextv = arith.addf %pv, %other : f32
    linalg.yield %new, %next, %nextv : f32, f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// The two largest of each row, whatever they start from, and the two least of all.
func.func @ranks(%x: tensor<16x133xf32>, %y: tensor<16x133xi8>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<i8>, tensor<i8>) {
  %most = arith.constant dense<127> : tensor<i8>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%a, %b : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %m: f32, %n: f32):
    %new = arith.maximumf %m, %in : f32
    %low = arith.minimumf %in, %m : f32
    %second = arith.maximumf %n, %low : f32
    linalg.yield %new, %second : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<16x133xi8>) outs(%most, %most : tensor<i8>, tensor<i8>) {
  ^bb0(%in: i8, %n: i8, %m: i8):
    %new = arith.minsi %in, %m : i8
    %high = arith.maxsi %m, %in : i8
    %second = arith.minsi %high, %n : i8
    linalg.yield %second, %new : i8, i8
  } -> (tensor<i8>, tensor<i8>)
  return %r#0, %r#1, %s#0, %s#1 : tensor<16xf32>, tensor<16xf32>, tensor<i8>, tensor<i8>
}

// The best two of each row with their places: ties and what is no number go as the loops do.
func.func @places(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xindex>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.fill ins(%c0 : index) outs(%ei : tensor<?xindex>) -> tensor<?xindex>
  %r:4 = linalg.generic {indexing_maps = [#rows, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f, %p, %f, %p : tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>) {
  ^bb0(%in: f32, %m: f32, %i: index, %w: f32, %j: index):
    %k = linalg.index 1 : index
    %first = arith.cmpf ogt, %in, %m : f32
    %second = arith.cmpf ogt, %in, %w : f32
    %nm = arith.select %first, %in, %m : f32
    %ni = arith.select %first, %k, %i : index
    %low = arith.select %second, %in, %w : f32
    %lowi = arith.select %second, %k, %j : index
    %nw = arith.select %first, %m, %low : f32
    %nj = arith.select %first, %i, %lowi : index
    linalg.yield %nm, %ni, %nw, %nj : f32, index, f32, index
  } -> (tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>
}

// The least two under a condition, in branches.
func.func @masked(%x: tensor<16x133xi8>, %c: tensor<16x133xi1>, %pa: tensor<16xi32>, %pb: tensor<16xi32>) -> (tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>) {
  %a = arith.constant dense<3> : tensor<16xi8>
  %b = arith.constant dense<7> : tensor<16xi8>
  %r:4 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %c : tensor<16x133xi8>, tensor<16x133xi1>) outs(%b, %pb, %a, %pa : tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>) {
  ^bb0(%in: i8, %is: i1, %w: i8, %j: i32, %m: i8, %i: i32):
    %ki = linalg.index 1 : index
    %s:4 = scf.if %is -> (i8, i32, i8, i32) {
      %k = arith.index_cast %ki : index to i32
      %first = arith.cmpi slt, %in, %m : i8
      %t:4 = scf.if %first -> (i8, i32, i8, i32) {
        scf.yield %in, %k, %m, %i : i8, i32, i8, i32
      } else {
        %second = arith.cmpi slt, %in, %w : i8
        %low = arith.select %second, %in, %w : i8
        %lowi = arith.select %second, %k, %j : i32
        scf.yield %m, %i, %low, %lowi : i8, i32, i8, i32
      }
      scf.yield %t#0, %t#1, %t#2, %t#3 : i8, i32, i8, i32
    } else {
      scf.yield %m, %i, %w, %j : i8, i32, i8, i32
    }
    linalg.yield %s#2, %s#3, %s#0, %s#1 : i8, i32, i8, i32
  } -> (tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>)
  return %r#2, %r#3, %r#0, %r#1 : tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>
}

// The best two under a condition, with the comparisons.
func.func @anded(%x: tensor<16x133xf32>, %c: tensor<16x133xi1>, %pa: tensor<16xi32>, %pb: tensor<16xi32>) -> (tensor<16xf32>, tensor<16xi32>, tensor<16xf32>, tensor<16xi32>) {
  %a = arith.constant dense<0.5> : tensor<16xf32>
  %b = arith.constant dense<-2.0> : tensor<16xf32>
  %r:4 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %c : tensor<16x133xf32>, tensor<16x133xi1>) outs(%a, %b, %pa, %pb : tensor<16xf32>, tensor<16xf32>, tensor<16xi32>, tensor<16xi32>) {
  ^bb0(%in: f32, %is: i1, %m: f32, %w: f32, %i: i32, %j: i32):
    %ki = linalg.index 1 : index
    %k = arith.index_cast %ki : index to i32
    %f = arith.cmpf olt, %m, %in : f32
    %first = arith.andi %f, %is : i1
    %s = arith.cmpf ogt, %in, %w : f32
    %second = arith.andi %s, %is : i1
    %nm = arith.select %first, %in, %m : f32
    %ni = arith.select %first, %k, %i : i32
    %low = arith.select %second, %in, %w : f32
    %lowi = arith.select %second, %k, %j : i32
    %nw = arith.select %first, %m, %low : f32
    %nj = arith.select %first, %i, %lowi : i32
    linalg.yield %nm, %nw, %ni, %nj : f32, f32, i32, i32
  } -> (tensor<16xf32>, tensor<16xf32>, tensor<16xi32>, tensor<16xi32>)
  return %r#0, %r#2, %r#1, %r#3 : tensor<16xf32>, tensor<16xi32>, tensor<16xf32>, tensor<16xi32>
}

// An arg-max under a condition, in branches.
func.func @branches(%x: tensor<?x?xf32>, %c: tensor<?x?xi1>) -> (tensor<?xf32>, tensor<?xindex>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xindex>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.fill ins(%c0 : index) outs(%ei : tensor<?xindex>) -> tensor<?xindex>
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %c : tensor<?x?xf32>, tensor<?x?xi1>) outs(%f, %p : tensor<?xf32>, tensor<?xindex>) {
  ^bb0(%in: f32, %is: i1, %m: f32, %i: index):
    %k = linalg.index 1 : index
    %s:2 = scf.if %is -> (f32, index) {
      %first = arith.cmpf ogt, %in, %m : f32
      %nm = arith.select %first, %in, %m : f32
      %ni = arith.select %first, %k, %i : index
      scf.yield %nm, %ni : f32, index
    } else {
      scf.yield %m, %i : f32, index
    }
    linalg.yield %s#0, %s#1 : f32, index
  } -> (tensor<?xf32>, tensor<?xindex>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xindex>
}

// The best two, where all are declared numbers.
func.func @numbers(%x: tensor<16x133xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%a, %b : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %m: f32, %n: f32):
    %first = arith.cmpf oge, %m, %in fastmath<nnan> : f32
    %v = arith.select %first, %m, %in : f32
    %low = arith.select %first, %in, %m : f32
    %second = arith.cmpf ogt, %low, %n fastmath<nnan> : f32
    %w = arith.select %second, %low, %n : f32
    linalg.yield %v, %w : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// The place in an image of any size.
func.func @whole(%x: tensor<?x?xf32>) -> (tensor<f32>, tensor<index>) {
  %c1 = arith.constant 1 : index
  %w = tensor.dim %x, %c1 : tensor<?x?xf32>
  %zero = arith.constant dense<0> : tensor<index>
  %b = arith.constant dense<0xFF800000> : tensor<f32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%b, %zero : tensor<f32>, tensor<index>) {
  ^bb0(%in: f32, %best: f32, %place: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %w : index
    %ij = arith.addi %line, %j : index
    %is_more = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %is_more, %in, %best : f32
    %q = arith.select %is_more, %ij, %place : index
    linalg.yield %v, %q : f32, index
  } -> (tensor<f32>, tensor<index>)
  return %r#0, %r#1 : tensor<f32>, tensor<index>
}
