// #mdh.layout, mdh.layout.apply and mdh.layout.inv.
//
// RUN: mdh-opt %s | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix GENERIC

// What is written with shorthands is printed in full.
// CHECK: func.func private @holds() attributes {layout = #mdh.layout<OrderBy(RegP([4,6],[2,1])).GroupBy([4,6])>}
func.func private @holds() attributes {layout = #mdh.layout<Col([4,6])>}

// CHECK-LABEL: func.func @places(
// CHECK: mdh.layout.apply #mdh.layout<OrderBy(GenP([8,8],hilbert)).GroupBy([8,8])>[%{{.*}}, %{{.*}}]
// CHECK: %{{.*}}:2 = mdh.layout.inv #mdh.layout<OrderBy(GenP([8,8],hilbert)).GroupBy([8,8])>[%{{.*}}] : index, index
// GENERIC: "mdh.layout.apply"(%{{.*}}, %{{.*}}) <{layout = #mdh.layout<{{.*}}>, operandSegmentSizes = array<i32: 2, 0>, symbols = []}> : (index, index) -> index
func.func @places(%i: index, %j: index, %p: index) -> (index, index, index) {
  %q = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%i, %j]
  %k:2 = mdh.layout.inv #mdh.layout<GenP([8,8],hilbert)>[%p] : index, index
  return %q, %k#0, %k#1 : index, index, index
}

// Sizes that are values have names, and may have bounds.
// CHECK-LABEL: func.func @sizes(
// CHECK: mdh.layout.apply #mdh.layout<OrderBy(RegP([m,n],[2,1])).GroupBy([m,n]) where m = 1..64, n = 8..>[%{{.*}}, %{{.*}}] with(m = %{{.*}}, n = %{{.*}})
// CHECK: mdh.layout.inv #mdh.layout<{{.*}}>[%{{.*}}] with(n = %{{.*}}, m = %{{.*}}) {tag = 7 : i64} : index, index
func.func @sizes(%i: index, %m: index, %n: index) -> index {
  %q = mdh.layout.apply #mdh.layout<Col([m,n]) where m = 1..64, n = 8..>[%i, %i] with(m = %m, n = %n)
  %k:2 = mdh.layout.inv #mdh.layout<Col([m,n])>[%q] with(n = %n, m = %m) {tag = 7} : index, index
  return %k#0 : index
}

// Memory under the indices of a layout; axes before them count tiles.
// CHECK-LABEL: func.func @views(
// CHECK: mdh.layout.view %{{.*}} : memref<64xf32> to memref<8x8xf32, #mdh.layout<OrderBy(GenP([8,8],xor)).GroupBy([8,8])>>
// CHECK: mdh.layout.view %{{.*}} : memref<?x3x6xi8> to memref<?x3x2x3xi8, #mdh.layout<OrderBy(RegP([2,3],[2,1])).GroupBy([2,3])>>
func.func @views(%a: memref<64xf32>, %b: memref<?x3x6xi8>) {
  %0 = mdh.layout.view %a : memref<64xf32> to memref<8x8xf32, #mdh.layout<GenP([8,8],xor)>>
  %1 = mdh.layout.view %b : memref<?x3x6xi8> to memref<?x3x2x3xi8, #mdh.layout<Col([2,3])>>
  return
}

// Expressions of one's own; those with comparisons stand in quotes.
// CHECK-LABEL: func.func @written(
// CHECK: #mdh.layout<OrderBy(GenP([6],(i) -> 5 - i, x -> (5 - x))).GroupBy([6])>
// CHECK: #mdh.layout<"OrderBy(GenP([6],(i) -> select(i < 3, i + 3, i - 3), x -> (select(x < 3, x + 3, x - 3)))).GroupBy([6])">
func.func @written(%i: index) -> (index, index) {
  %p = mdh.layout.apply #mdh.layout<GenP([6],i -> 5 - i, x -> 5 - x)>[%i]
  %q = mdh.layout.apply
    #mdh.layout<"GenP([6],i -> select(i < 3, i + 3, i - 3), x -> select(x < 3, x + 3, x - 3))">[%i]
  return %p, %q : index, index
}
