// What the oracle interprets beside computations: another shape whose extents are elements, and parallel
// loops that reduce.
//
// RUN: mdh run %s --check=all --entry reshaped --range=x=1..9 | FileCheck %s --check-prefix RESHAPED
// RESHAPED: check passed: 12 of 12 elements compared, no difference; 12 told from zero
//
// RUN: mdh run %s --check=all --entry reduced --range=x=1..9 | FileCheck %s --check-prefix REDUCED
// REDUCED: check passed: 2 of 2 elements compared, no difference; 2 told from zero

func.func @reshaped(%x: tensor<12xi32>) -> tensor<?x4xi32> {
  %shape = arith.constant dense<[3, 4]> : tensor<2xindex>
  %r = tensor.reshape %x(%shape) : (tensor<12xi32>, tensor<2xindex>) -> tensor<?x4xi32>
  %y = arith.addi %r, %r : tensor<?x4xi32>
  return %y : tensor<?x4xi32>
}

func.func @reduced(%x: memref<5x4xi32>, %y: memref<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %s:2 = scf.parallel (%i, %j) = (%c0, %c0) to (%c5, %c4) step (%c1, %c1) init (%zero, %one) -> (i32, i32) {
    %a = memref.load %x[%i, %j] : memref<5x4xi32>
    scf.reduce(%a, %a : i32, i32) {
    ^bb0(%l: i32, %r: i32):
      %t = arith.addi %l, %r : i32
      scf.reduce.return %t : i32
    }, {
    ^bb0(%l: i32, %r: i32):
      %t = arith.muli %l, %r : i32
      scf.reduce.return %t : i32
    }
  }
  memref.store %s#0, %y[%c0] : memref<2xi32>
  memref.store %s#1, %y[%c1] : memref<2xi32>
  return
}
