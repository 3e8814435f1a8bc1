// Scalar code of all kinds that --check follows: operations with two results, loops that count
// without a sign, ranges; on vectors and in each step of the lowering.
//
// RUN: mdh run %s --entry integers --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry floats --random 2 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry loops --random 3 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry uniform --random 4 --check-each-step | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "[-3, 0.25, 7, np.nan, np.inf, -np.inf] + 31 * [0.5]"
// RUN: mdh run %s --entry floats --in %t.x.npy --out r=%t.r.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.r.npy "a[:6]" | FileCheck %s --check-prefix RANGE
// CHECK: check passed
// RANGE: 37 float32
// RANGE-NEXT: 0 0.25 1 nan 1 0

func.func @integers(%x: tensor<37xi32>, %y: tensor<37xi32>)
    -> (tensor<37xi32>, tensor<37xi1>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>) {
  %words = tensor.empty() : tensor<37xi32>
  %bits = tensor.empty() : tensor<37xi1>
  %points = mdh.inp_view (i = 37) (%x[i] : tensor<37xi32>, %y[i] : tensor<37xi32>)
          : !mdh.mda<37, i32, i32>
  %all = mdh.hom((%a: i32, %b: i32) {
      %large = arith.constant 715827883 : i32
      %c = arith.muli %a, %large : i32
      %d = arith.muli %b, %large : i32
      %sum, %carry = arith.addui_extended %c, %d : i32, i1
      %low, %signed = arith.mulsi_extended %c, %d : i32
      %same, %unsigned = arith.mului_extended %c, %d : i32
      mdh.yield %sum, %carry, %low, %signed, %unsigned : i32, i1, i32, i32, i32
  }, (cc)) %points : !mdh.mda<37, i32, i32> -> !mdh.mda<37, i32, i1, i32, i32, i32>
  %r:5 = mdh.out_view (i) %all
      -> (s = %words[i] : tensor<37xi32>, c = %bits[i] : tensor<37xi1>, l = %words[i] : tensor<37xi32>,
          h = %words[i] : tensor<37xi32>, u = %words[i] : tensor<37xi32>)
      : !mdh.mda<37, i32, i1, i32, i32, i32>
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : tensor<37xi32>, tensor<37xi1>, tensor<37xi32>, tensor<37xi32>, tensor<37xi32>
}

func.func @floats(%x: tensor<37xf32>) -> (tensor<37xf32>, tensor<37xf32>, tensor<37xf32>) {
  %init = tensor.empty() : tensor<37xf32>
  %points = mdh.inp_view (i = 37) (%x[i] : tensor<37xf32>) : !mdh.mda<37, f32>
  %all = mdh.hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %range = math.clampf %a to [%zero, %one] : f32
      %sin, %cos = math.sincos %a : f32
      mdh.yield %range, %sin, %cos : f32, f32, f32
  }, (cc)) %points : !mdh.mda<37, f32> -> !mdh.mda<37, f32, f32, f32>
  %r:3 = mdh.out_view (i) %all
      -> (r = %init[i] : tensor<37xf32>, s = %init[i] : tensor<37xf32>, c = %init[i] : tensor<37xf32>)
      : !mdh.mda<37, f32, f32, f32>
  return %r#0, %r#1, %r#2 : tensor<37xf32>, tensor<37xf32>, tensor<37xf32>
}

// The number of steps from x to the largest number without a sign.
func.func @loops(%x: tensor<37xi32>) -> tensor<37xi32> {
  %init = tensor.empty() : tensor<37xi32>
  %points = mdh.inp_view (i = 37) (%x[i] : tensor<37xi32>) : !mdh.mda<37, i32>
  %counts = mdh.hom((%a: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %most = arith.constant -1073741824 : i32
      %step = arith.constant 268435456 : i32
      %n = scf.for unsigned %k = %a to %most step %step iter_args(%count = %zero) -> i32 : i32 {
        %next = arith.addi %count, %one : i32
        scf.yield %next : i32
      }
      mdh.yield %n : i32
  }, (cc)) %points : !mdh.mda<37, i32> -> !mdh.mda<37, i32>
  %y = mdh.out_view (i) %counts -> (y = %init[i] : tensor<37xi32>) : !mdh.mda<37, i32>
  return %y : tensor<37xi32>
}

// All lanes agree on the bounds, the upper one of which is negative with a sign.
func.func @uniform(%x: tensor<37xi32>) -> tensor<37xi32> {
  %init = tensor.empty() : tensor<37xi32>
  %points = mdh.inp_view (i = 37) (%x[i] : tensor<37xi32>) : !mdh.mda<37, i32>
  %sums = mdh.hom((%a: i32) {
      %zero = arith.constant 0 : i32
      %from = arith.constant 5 : index
      %most = arith.constant -4611686018427387904 : index
      %step = arith.constant 4611686018427387904 : index
      %n = scf.for unsigned %k = %from to %most step %step iter_args(%sum = %zero) -> i32 {
        %next = arith.addi %sum, %a : i32
        scf.yield %next : i32
      }
      mdh.yield %n : i32
  }, (cc)) %points : !mdh.mda<37, i32> -> !mdh.mda<37, i32>
  %y = mdh.out_view (i) %sums -> (y = %init[i] : tensor<37xi32>) : !mdh.mda<37, i32>
  return %y : tensor<37xi32>
}
