// RUN: mdh-opt %s --mdh-keep-loops | FileCheck %s
// RUN: mdh-opt %s --mdh-keep-loops --mdh-keep-loops | FileCheck %s
// RUN: mdh-opt %s --mdh-simplify | FileCheck %s --check-prefix=SIMPLE
// RUN: mdh-opt %s --canonicalize --cse | FileCheck %s --check-prefix=GONE

// An iteration that goes on calls a function that does nothing: for upstream's rewrites an effect.
// CHECK:       func.func private @mdh_goes_on_1() attributes {llvm.linkage = #llvm.linkage<internal>} {
// CHECK-NEXT:    return
// CHECK-NOT:   func.func private @mdh_goes_on_2

// A name that the program has is its own.
func.func private @mdh_goes_on(%x: i32) -> i32

// CHECK-LABEL: func.func @unused
// CHECK:         } do {
// CHECK:         func.call @mdh_goes_on_1()
// CHECK-NOT:     func.call
// CHECK:         return
// SIMPLE-LABEL: func.func @unused
// SIMPLE:         scf.while
// GONE-LABEL:  func.func @unused
// GONE-NOT:      scf.while
// GONE:          return
func.func @unused(%x: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %y = scf.while (%n = %x) : (i32) -> i32 {
    %more = arith.cmpi ne, %n, %c1 : i32
    scf.condition(%more) %n : i32
  } do {
  ^bb0(%n: i32):
    %next = arith.shrsi %n, %c1 : i32
    scf.yield %next : i32
  }
  return %x : i32
}

// CHECK-LABEL: func.func @scalar_code
// CHECK:         mdh.compute
// CHECK:         func.call @mdh_goes_on_1()
// CHECK-NOT:     func.call
// SIMPLE-LABEL: func.func @scalar_code
// SIMPLE:         scf.while
// GONE-LABEL:  func.func @scalar_code
// GONE-NOT:      scf.while
func.func @scalar_code(%x: tensor<8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
  %y = mdh.compute (i = 8)
    out_view(y = %init[i] : tensor<8xi32>)
    md_hom((%e: i32) {
      %same = scf.while (%a = %e) : (i32) -> i32 {
        %again = arith.constant true
        scf.condition(%again) %a : i32
      } do {
      ^bb0(%b: i32):
        scf.yield %b : i32
      }
      mdh.yield %same : i32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xi32>)
  return %y : tensor<8xi32>
}

// A loop over numbers ends, and no rewrite changes that.
// Silent: it stays or goes as its results say.
// CHECK-LABEL: func.func @counted
// CHECK:         scf.for
// CHECK-NOT:     func.call
// CHECK:         return
func.func @counted(%x: i32, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i32) {
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  }
  return %y : i32
}

// Refuses nothing: a call fits into every loop.
