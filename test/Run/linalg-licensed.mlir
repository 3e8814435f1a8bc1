// Reductions that only the program says are associative, and outputs that combine beside others: what
// the compiler reorders has a bound, which tells results from zero.
//
// RUN: mdh run %s --check=all --entry log_sum --random 1 2>&1 | FileCheck %s --check-prefix LOG
// LOG: note: 1 operation of linalg raised
// LOG: check passed: 5 of 5 elements compared, {{.*}}; 5 told from zero
//
// RUN: mdh run %s --check=all --entry product --random 1 --range=x=0.9..1.1 --range=y=-0.1..0.1 2>&1 | FileCheck %s --check-prefix PRODUCT
// PRODUCT: note: 1 operation of linalg raised
// PRODUCT: check passed: 2 of 2 elements compared, {{.*}}; 2 told from zero
//
// RUN: mdh run %s --check=all --entry mixed --random 1 --range=x=1..2 --range=y=4..5 2>&1 | FileCheck %s --check-prefix MIXED
// MIXED: note: 1 operation of linalg raised
// MIXED: check passed: 10 of 10 elements compared, {{.*}}; 10 told from zero
//
// Coupled with an operator that is no built-in one, a sum is a user's: as deep as any, which equal terms
// show, since they round all the same way.
// RUN: mdh run %s --check=all --entry coupled --random 1 --range=x=0.7..0.8 2>&1 | FileCheck %s --check-prefix COUPLED
// COUPLED: note: 1 operation of linalg raised
// COUPLED: check passed: 2 of 2 elements compared, {{.*}}; 2 told from zero

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
#all = affine_map<(k) -> (k)>
#one = affine_map<(k) -> ()>
#each = affine_map<(k, r, s) -> (k, r, s)>
#none = affine_map<(k, r, s) -> ()>

func.func @log_sum(%x: tensor<5x1000xf32>) -> tensor<5xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<5xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %y = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x1000xf32>) outs(%f : tensor<5xf32>) attrs = {mdh.associative, mdh.commutative} {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    %p = arith.subf %o, %m : f32
    %q = arith.subf %a, %m : f32
    %r = math.exp %p : f32
    %s = math.exp %q : f32
    %t = arith.addf %r, %s : f32
    %u = math.log %t : f32
    %v = arith.addf %m, %u : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}

func.func @product(%x: tensor<40xf32>, %y: tensor<40xf32>) -> (tensor<f32>, tensor<f32>) {
  %re = arith.constant dense<1.0> : tensor<f32>
  %im = arith.constant dense<0.5> : tensor<f32>
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #one, #one], iterator_types = ["reduction"]}
      ins(%x, %y : tensor<40xf32>, tensor<40xf32>) outs(%re, %im : tensor<f32>, tensor<f32>) attrs = {mdh.associative} {
  ^bb0(%c: f32, %d: f32, %a: f32, %b: f32):
    %ac = arith.mulf %a, %c : f32
    %bd = arith.mulf %b, %d : f32
    %ad = arith.mulf %a, %d : f32
    %bc = arith.mulf %b, %c : f32
    %real = arith.subf %ac, %bd : f32
    %other = arith.addf %ad, %bc : f32
    linalg.yield %real, %other : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

func.func @mixed(%x: tensor<5x1000xf32>, %y: tensor<5x1000xf32>, %s: tensor<5xf32>, %m: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<5x1000xf32>, tensor<5x1000xf32>) outs(%s, %m : tensor<5xf32>, tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %n: f32):
    %less = arith.subf %o, %a : f32
    %more = arith.addf %less, %b : f32
    %largest = arith.maxnumf %a, %n : f32
    linalg.yield %more, %largest : f32, f32
  } -> (tensor<5xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xf32>
}

func.func @coupled(%x: tensor<f32>, %y: tensor<2x3x3xf32>, %m: tensor<f32>, %s: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = linalg.generic {indexing_maps = [#none, #each, #none, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %y : tensor<f32>, tensor<2x3x3xf32>) outs(%m, %s : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %n: f32):
    %largest = arith.maxnumf %o, %a : f32
    %sum = arith.addf %n, %a : f32
    linalg.yield %largest, %sum : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
