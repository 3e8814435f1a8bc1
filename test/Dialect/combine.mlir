// mdh.combine: an operator on whole tuples, its laws, its neutral element.
//
// RUN: mdh-opt %s | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix GENERIC

// CHECK: mdh.combine @wins commutative associative neutral(0xFF800000 : f32, -1 : i64) (%[[W0:.*]]: f32, %[[J0:.*]]: i64, %[[W1:.*]]: f32, %[[J1:.*]]: i64) {
// CHECK:   %[[GT:.*]] = arith.cmpf ogt, %[[W0]], %[[W1]] : f32
// CHECK:   mdh.yield %{{.*}}, %{{.*}} : f32, i64
// CHECK: }
// GENERIC: "mdh.combine"() <{associative, commutative, neutral = [0xFF800000 : f32, -1], sym_name = "wins"}> ({
// GENERIC: "mdh.yield"(%{{.*}}, %{{.*}}) : (f32, i64) -> ()
mdh.combine @wins commutative associative neutral(0xFF800000 : f32, -1 : i64)
    (%w0: f32, %j0: i64, %w1: f32, %j1: i64) {
  %gt = arith.cmpf ogt, %w0, %w1 : f32
  %w = arith.select %gt, %w0, %w1 : f32
  %j = arith.select %gt, %j0, %j1 : i64
  mdh.yield %w, %j : f32, i64
}

// CHECK: mdh.combine private @second associative (%{{.*}}: bf16, %[[B:.*]]: bf16) {
// CHECK-NEXT: mdh.yield %[[B]] : bf16
mdh.combine private @second associative (%a: bf16, %b: bf16) {
  mdh.yield %b : bf16
}

// Declarations in another order are printed in this one.
// CHECK: mdh.combine @ordered commutative associative neutral(0 : i8) (
mdh.combine @ordered neutral(0 : i8) associative commutative (%a: i8, %b: i8) {
  %c = arith.addi %a, %b : i8
  mdh.yield %c : i8
}

// A name that is no word, and an attribute of somebody else.
// CHECK: mdh.combine @"no word" (%{{.*}}: i1, %{{.*}}: i1) {
// CHECK: } {tag = 7 : i64}
mdh.combine @"no word" (%a: i1, %b: i1) {
  mdh.yield %a : i1
} {tag = 7}
