// Products in a wider type that leave the narrow one do so only where they are rounded to it: as written, they
// do not, raised or as they are, and whether anything is accumulated or not.
//
// RUN: mdh run %s --check=all --entry products --random 1 --range=-250..250 2>&1 | FileCheck %s --check-prefix PRODUCTS
// RUN: mdh run %s --check=all --entry products --random 1 --range=-250..250 --no-raise 2>&1 | FileCheck %s --check-prefix PRODUCTS
// RUN: mdh run %s --check=all --entry each --random 1 --range=-300..300 2>&1 | FileCheck %s --check-prefix EACH
// RUN: mdh run %s --check=all --entry each --random 1 --range=-300..300 --no-raise 2>&1 | FileCheck %s --check-prefix EACH
// RUN: mdh run %s --check=all --entry factors --random 1 --range=0.01..250 2>&1 | FileCheck %s --check-prefix FACTORS
// RUN: mdh run %s --check=all --entry factors --random 1 --range=0.01..250 --no-raise 2>&1 | FileCheck %s --check-prefix FACTORS
// RUN: mdh run %s --check=all --entry sums --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,SUMS
// RUN: mdh run %s --check=all --entry sums --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix SUMS
// RUN: mdh run %s --check=all --entry outside --random 1 2>&1 | FileCheck %s --check-prefix SUMS
// RUN: mdh run %s --check=all --entry outside --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix SUMS
// RAISED: note: 1 operation of linalg raised to computations
// PRODUCTS: check passed: 9 of 9 elements compared
// EACH: check passed: 40 of 40 elements compared
// FACTORS: check passed: 9 of 9 elements compared
// SUMS: check passed: 9 of 9 elements compared

func.func @products(%x: tensor<9x4xf16>, %y: tensor<9x4xf16>, %z: tensor<9xf16>) -> tensor<9xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<9x4xf16>, tensor<9x4xf16>) outs(%z : tensor<9xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %c = arith.extf %o : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<9xf16>
  return %r : tensor<9xf16>
}

func.func @each(%x: tensor<40xf16>, %y: tensor<40xf16>, %z: tensor<40xf16>) -> tensor<40xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> (k)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<40xf16>, tensor<40xf16>) outs(%z : tensor<40xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %c = arith.extf %o : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.subf %c, %m : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<40xf16>
  return %r : tensor<40xf16>
}

func.func @factors(%x: tensor<9x2xf16>, %y: tensor<9x2xf16>, %z: tensor<9xf16>) -> tensor<9xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<9x2xf16>, tensor<9x2xf16>) outs(%z : tensor<9xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %p = arith.extf %a : f16 to f32
    %q = arith.extf %b : f16 to f32
    %c = arith.extf %o : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.mulf %c, %m : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<9xf16>
  return %r : tensor<9xf16>
}

func.func @sums(%x: tensor<9x40xf16>, %z: tensor<9xf16>) -> tensor<9xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x40xf16>) outs(%z : tensor<9xf16>) {
  ^bb0(%a: f16, %o: f16):
    %p = arith.extf %a : f16 to f32
    %c = arith.extf %o : f16 to f32
    %s = arith.addf %c, %p : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<9xf16>
  return %r : tensor<9xf16>
}

func.func @outside(%x: tensor<9x40xf16>, %z: tensor<9xf16>, %h: f16) -> tensor<9xf16> {
  %other = arith.extf %h : f16 to f32
  %none = arith.constant 0.0 : f16
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x40xf16>) outs(%z : tensor<9xf16>) {
  ^bb0(%a: f16, %o: f16):
    %is = arith.cmpf ogt, %a, %none : f16
    %p = arith.extf %a : f16 to f32
    %e = arith.select %is, %p, %other : f32
    %c = arith.extf %o : f16 to f32
    %s = arith.addf %c, %e : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<9xf16>
  return %r : tensor<9xf16>
}
