// Indices are cut off by way of 64 bits.
//
// RUN: mdh-opt %s --mdh-preserve-truncation | FileCheck %s
// RUN: mdh-opt %s --mdh-preserve-truncation --canonicalize | FileCheck %s --check-prefix KEPT

// CHECK-LABEL: func.func @cut
// CHECK:       %[[WIDE:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK-NEXT:  %[[NARROW:.*]] = arith.trunci %[[WIDE]] : i64 to i8
// CHECK-NEXT:  arith.index_castui %[[NARROW]] : i8 to index
// Upstream does not take the result for the index itself.
// KEPT-LABEL:  func.func @cut
// KEPT:        arith.trunci
// KEPT:        return %{{[0-9]+}}
func.func @cut(%i: index) -> index {
  %a = arith.index_castui %i : index to i8
  %b = arith.index_castui %a : i8 to index
  return %b : index
}

// All lanes of a vector are.
// CHECK-LABEL: func.func @lanes
// CHECK:       %[[WIDE:.*]] = arith.index_cast %{{.*}} : vector<4xindex> to vector<4xi64>
// CHECK-NEXT:  arith.trunci %[[WIDE]] : vector<4xi64> to vector<4xi16>
// KEPT-LABEL:  func.func @lanes
// KEPT:        arith.trunci
func.func @lanes(%i: vector<4xindex>) -> vector<4xindex> {
  %a = arith.index_cast %i : vector<4xindex> to vector<4xi16>
  %b = arith.index_cast %a : vector<4xi16> to vector<4xindex>
  return %b : vector<4xindex>
}

// Silent: 64 bits hold an index, and wider ones are cut from nothing.
// CHECK-LABEL: func.func @wide
// CHECK:       arith.index_cast %{{.*}} : index to i64
// CHECK-NEXT:  arith.index_cast %{{.*}} : i8 to index
// CHECK-NEXT:  return
func.func @wide(%i: index, %n: i8) -> (i64, index) {
  %a = arith.index_cast %i : index to i64
  %b = arith.index_cast %n : i8 to index
  return %a, %b : i64, index
}

// Refuses nothing: every narrow integer is a part of 64 bits.
