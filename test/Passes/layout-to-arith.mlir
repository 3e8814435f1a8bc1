// RUN: mdh-opt %s --mdh-layout-to-arith | FileCheck %s
// RUN: mdh-opt %s --pass-pipeline="builtin.module(mdh-layout-to-arith{affine=false})" \
// RUN:   | FileCheck %s --check-prefix ARITH --implicit-check-not affine
// RUN: mdh-opt %s --canonicalize | FileCheck %s --check-prefix FOLD

// A table is a global, once.
// CHECK: memref.global "private" constant @mdh_table_0 : memref<4xindex> = dense<[2, 0, 3, 1]>
// CHECK-NOT: memref.global "private" constant @mdh_table_1

// CHECK-LABEL: func.func @affine(
// CHECK-NOT:   arith
// CHECK:       affine.apply
// ARITH-LABEL: func.func @affine(
// ARITH:       arith.divsi
// ARITH:       arith.remsi
func.func @affine(%i: index, %j: index) -> index {
  %p = mdh.layout.apply #mdh.layout<Bricks([64,64],[8,8])>[%i, %j]
  return %p : index
}

// CHECK-LABEL: func.func @bits(
// CHECK:       arith.xori
// CHECK-NOT:   arith.div
func.func @bits(%i: index, %j: index) -> index {
  %p = mdh.layout.apply #mdh.layout<GenP([32,32],xor)>[%i, %j]
  return %p : index
}

// CHECK-LABEL: func.func @table(
// CHECK:       %[[TABLE:.*]] = memref.get_global @mdh_table_0
// CHECK:       memref.load %[[TABLE]]
func.func @table(%i: index) -> (index, index) {
  %p = mdh.layout.apply #mdh.layout<GenP([4],table([2,0,3,1]))>[%i]
  %q = mdh.layout.apply #mdh.layout<GenP([4],table([2,0,3,1]))>[%p]
  return %p, %q : index, index
}

// Known sizes and components count: the first row of columns of 8 elements.
// CHECK-LABEL: func.func @known(
// CHECK-SAME:    %[[J:[a-z0-9]+]]: index
// CHECK:       affine.apply #{{.*}}(%[[J]])
func.func @known(%j: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %p = mdh.layout.apply #mdh.layout<Col([m,16])>[%c0, %j] with(m = %c8)
  return %p : index
}

// There and back, of sizes that are the same values, and of numbers.
// FOLD-LABEL: func.func @back(
// FOLD-SAME:    %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[P:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// FOLD-NEXT:  %[[C11:.*]] = arith.constant 11 : index
// FOLD-NEXT:  return %[[P]], %[[I]], %[[J]], %[[C11]] :
func.func @back(%i: index, %j: index, %p: index, %n: index) -> (index, index, index, index) {
  %k:2 = mdh.layout.inv #mdh.layout<Col([n,n]) where n = 1..1000>[%p] with(n = %n) : index, index
  %q = mdh.layout.apply #mdh.layout<Col([n,n]) where n = 1..1000>[%k#0, %k#1] with(n = %n)
  %r = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%i, %j]
  %l:2 = mdh.layout.inv #mdh.layout<GenP([8,8],morton)>[%r] : index, index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = mdh.layout.apply #mdh.layout<Col([4,6])>[%c3, %c2]
  return %q, %l#0, %l#1, %s : index, index, index, index
}

// Not of another layout, nor of components in another order; what lies outside is left.
// FOLD-LABEL: func.func @other(
// FOLD:       mdh.layout.inv
// FOLD:       mdh.layout.apply
// FOLD:       mdh.layout.apply
// FOLD:       mdh.layout.apply
func.func @other(%p: index) -> (index, index, index) {
  %k:2 = mdh.layout.inv #mdh.layout<GenP([8,8],morton)>[%p] : index, index
  %q = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%k#0, %k#1]
  %r = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%k#1, %k#0]
  %c9 = arith.constant 9 : index
  %s = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%c9, %c9]
  return %q, %r, %s : index, index, index
}
