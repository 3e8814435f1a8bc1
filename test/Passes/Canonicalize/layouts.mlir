// What is asked of a layout is folded where the answer is known: numbers, and questions back.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// The offset of an offset's index, and the index of an index's offset.
// CHECK-LABEL: @back
// CHECK-SAME:    (%[[P:.*]]: index, %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK-NEXT:    return %[[P]], %[[I]], %[[J]]
func.func @back(%p: index, %i: index, %j: index) -> (index, index, index) {
  %a:2 = mdh.layout.inv #mdh.layout<GenP([8,8],hilbert)>[%p] : index, index
  %q = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%a#0, %a#1]
  %b = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%i, %j]
  %c:2 = mdh.layout.inv #mdh.layout<GenP([8,8],hilbert)>[%b] : index, index
  return %q, %c#0, %c#1 : index, index, index
}

// Numbers, also those of symbols: row 2 of column 1, where columns have 5 elements.
// CHECK-LABEL: @numbers
// CHECK-DAG:     %[[SIX:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[SEVEN:.*]] = arith.constant 7 : index
// CHECK:         return %[[SIX]], %[[SIX]], %[[SEVEN]]
func.func @numbers() -> (index, index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %i:2 = mdh.layout.inv #mdh.layout<GenP([8,8],reverse)>[%c9] : index, index
  %p = mdh.layout.apply #mdh.layout<Col([m,n]) where m = 1..4096, n = 1..4096>[%c2, %c1] with(m = %c5, n = %c9)
  return %i#0, %i#1, %p : index, index, index
}

// Indices in another order, and those of another layout or another size, are others.
// CHECK-LABEL: @others
// CHECK-COUNT-3: mdh.layout.apply
// CHECK:         return
func.func @others(%p: index, %m: index, %n: index) -> (index, index, index) {
  %a:2 = mdh.layout.inv #mdh.layout<GenP([8,8],hilbert)>[%p] : index, index
  %b = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%a#1, %a#0]
  %c = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%a#0, %a#1]
  %d:2 = mdh.layout.inv #mdh.layout<Col([m,n]) where m = 1..64, n = 1..64>[%p] with(m = %m, n = %n) : index, index
  %e = mdh.layout.apply #mdh.layout<Col([m,n]) where m = 1..64, n = 1..64>[%d#0, %d#1] with(m = %n, n = %m)
  return %b, %c, %e : index, index, index
}

// What has no answer keeps its place: the index is outside of the view.
// CHECK-LABEL: @outside
// CHECK:         mdh.layout.apply
func.func @outside() -> index {
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %p = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%c9, %c1]
  return %p : index
}
