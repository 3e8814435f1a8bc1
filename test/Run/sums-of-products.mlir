// Products of bytes and of 16 bits, summed up in 32: sizes that fill neither groups nor lanes, the
// largest and smallest numbers, signs of all kinds. Sums wrap, so that all are exact.
//
// RUN: %python %S/Inputs/npy.py save %t.a.npy i1 "np.tile([-128, 127, -1, 1, 0, -128, -128], 37 * 131 // 7 + 1)[:37 * 131].reshape(37, 131)" %t.b.npy i1 "np.tile([-128, -128, 127, -1, 5], 131 * 70 // 5 + 1)[:131 * 70].reshape(131, 70)"
// RUN: mdh run %s --entry signed --in %t.a.npy %t.b.npy --check | FileCheck %s
// RUN: mdh run %s --entry unsigned --in %t.a.npy %t.b.npy --check | FileCheck %s
// RUN: mdh run %s --entry mixed --in %t.a.npy %t.b.npy --check | FileCheck %s
// RUN: mdh run %s --entry signed --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry words --random 2 --check | FileCheck %s
// RUN: mdh run %s --entry transposed --random 3 --check | FileCheck %s
// RUN: mdh run %s --entry convolution --random 4 --check | FileCheck %s
// RUN: mdh run %s --entry unsigned --in %t.a.npy %t.b.npy --check --schedule %S/Inputs/packed-groups.txt | FileCheck %s
// RUN: mdh run %s --entry mixed --in %t.a.npy %t.b.npy --check --schedule %S/Inputs/packed-groups.txt | FileCheck %s
// RUN: not mdh run %s --entry words --random 2 --schedule %S/Inputs/packed-groups.txt 2>&1 | FileCheck %s --check-prefix=WIDE
// CHECK: check passed
// WIDE: breaks 'width': 64 points of 2 bytes on 'simd', 128 bytes, expected at most 64

func.func @signed(%A: tensor<37x131xi8>, %B: tensor<131x70xi8>) -> tensor<37x70xi32> {
  %init = tensor.empty() : tensor<37x70xi32>
  %points = mdh.inp_view (i = 37, j = 70, k = 131)
      (%A[i, k] : tensor<37x131xi8>, %B[k, j] : tensor<131x70xi8>) : !mdh.mda<37x70x131, i8, i8>
  %sums = mdh.hom((%a: i8, %b: i8) {
      %x = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
  }, (cc, cc, pw(addi))) %points : !mdh.mda<37x70x131, i8, i8> -> !mdh.mda<37x70x1, i32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<37x70xi32>)
      : !mdh.mda<37x70x1, i32>
  return %C : tensor<37x70xi32>
}

func.func @unsigned(%A: tensor<37x131xi8>, %B: tensor<131x70xi8>) -> tensor<37x70xi32> {
  %init = tensor.empty() : tensor<37x70xi32>
  %points = mdh.inp_view (i = 37, j = 70, k = 131)
      (%A[i, k] : tensor<37x131xi8>, %B[k, j] : tensor<131x70xi8>) : !mdh.mda<37x70x131, i8, i8>
  %sums = mdh.hom((%a: i8, %b: i8) {
      %x = arith.extui %a : i8 to i32
      %y = arith.extui %b : i8 to i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
  }, (cc, cc, pw(addi))) %points : !mdh.mda<37x70x131, i8, i8> -> !mdh.mda<37x70x1, i32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<37x70xi32>)
      : !mdh.mda<37x70x1, i32>
  return %C : tensor<37x70xi32>
}

func.func @mixed(%A: tensor<37x131xi8>, %B: tensor<131x70xi8>) -> tensor<37x70xi32> {
  %init = tensor.empty() : tensor<37x70xi32>
  %points = mdh.inp_view (i = 37, j = 70, k = 131)
      (%A[i, k] : tensor<37x131xi8>, %B[k, j] : tensor<131x70xi8>) : !mdh.mda<37x70x131, i8, i8>
  %sums = mdh.hom((%a: i8, %b: i8) {
      %x = arith.extsi %a : i8 to i32
      %y = arith.extui %b : i8 to i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
  }, (cc, cc, pw(addi))) %points : !mdh.mda<37x70x131, i8, i8> -> !mdh.mda<37x70x1, i32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<37x70xi32>)
      : !mdh.mda<37x70x1, i32>
  return %C : tensor<37x70xi32>
}

func.func @words(%A: tensor<37x131xi16>, %B: tensor<131x70xi16>) -> tensor<37x70xi32> {
  %init = tensor.empty() : tensor<37x70xi32>
  %points = mdh.inp_view (i = 37, j = 70, k = 131)
      (%A[i, k] : tensor<37x131xi16>, %B[k, j] : tensor<131x70xi16>)
      : !mdh.mda<37x70x131, i16, i16>
  %sums = mdh.hom((%a: i16, %b: i16) {
      %x = arith.extsi %a : i16 to i32
      %y = arith.extsi %b : i16 to i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
  }, (cc, cc, pw(addi))) %points : !mdh.mda<37x70x131, i16, i16> -> !mdh.mda<37x70x1, i32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<37x70xi32>)
      : !mdh.mda<37x70x1, i32>
  return %C : tensor<37x70xi32>
}

// The second one is transposed.
func.func @transposed(%A: tensor<50x131xi8>, %B: tensor<70x131xi8>) -> tensor<50x70xi32> {
  %init = tensor.empty() : tensor<50x70xi32>
  %points = mdh.inp_view (i = 50, j = 70, k = 131)
      (%A[i, k] : tensor<50x131xi8>, %B[j, k] : tensor<70x131xi8>) : !mdh.mda<50x70x131, i8, i8>
  %sums = mdh.hom((%a: i8, %b: i8) {
      %x = arith.extui %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
  }, (cc, cc, pw(addi))) %points : !mdh.mda<50x70x131, i8, i8> -> !mdh.mda<50x70x1, i32>
  %C = mdh.out_view (i, j, k) %sums -> (C = %init[i, j] : tensor<50x70xi32>)
      : !mdh.mda<50x70x1, i32>
  return %C : tensor<50x70xi32>
}

// Two more dimensions are summed up, and groups lie along the channels.
func.func @convolution(%image: tensor<12x13x19xi8>, %f: tensor<40x3x3x19xi8>) -> tensor<10x11x40xi32> {
  %init = tensor.empty() : tensor<10x11x40xi32>
  %points = mdh.inp_view (p = 10, q = 11, n = 40, r = 3, s = 3, c = 19)
      (%image[p + r, q + s, c] : tensor<12x13x19xi8>, %f[n, r, s, c] : tensor<40x3x3x19xi8>)
      : !mdh.mda<10x11x40x3x3x19, i8, i8>
  %sums = mdh.hom((%a: i8, %b: i8) {
      %x = arith.extui %a : i8 to i32
      %y = arith.extsi %b : i8 to i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
  }, (cc, cc, cc, pw(addi), pw(addi), pw(addi))) %points
      : !mdh.mda<10x11x40x3x3x19, i8, i8> -> !mdh.mda<10x11x40x1x1x1, i32>
  %y = mdh.out_view (p, q, n, r, s, c) %sums -> (y = %init[p, q, n] : tensor<10x11x40xi32>)
      : !mdh.mda<10x11x40x1x1x1, i32>
  return %y : tensor<10x11x40xi32>
}
