// The stock mlir-opt asks layouts of the algebra, with our library: of nothing else of ours is any
// left, and what is computed is what `mdh layout` says.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s \
// RUN:   --pass-pipeline="builtin.module(mdh-layout-to-arith,lower-affine,convert-scf-to-cf,convert-math-to-llvm,expand-strided-metadata,arith-expand,finalize-memref-to-llvm,convert-to-llvm,reconcile-unrealized-casts)" \
// RUN:   | mlir-runner -e main -entry-point-result=i64 | FileCheck %s
// RUN: mdh layout "OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])" --apply 4,2 \
// RUN:   | FileCheck %s --check-prefix SAYS

// CHECK: 3615
// SAYS: 15

// How many offsets come back, and where [4, 2] is.
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c36 = arith.constant 36 : index
  %zero = arith.constant 0 : index
  %right = scf.for %x = %c0 to %c36 step %c1 iter_args(%sum = %zero) -> (index) {
    %i:2 = mdh.layout.inv #mdh.layout<OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])>[%x] : index, index
    %back = mdh.layout.apply #mdh.layout<OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])>[%i#0, %i#1]
    %same = arith.cmpi eq, %back, %x : index
    %one = arith.index_castui %same : i1 to index
    %next = arith.addi %sum, %one : index
    scf.yield %next : index
  }
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %place = mdh.layout.apply #mdh.layout<OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])>[%c4, %c2]
  %c100 = arith.constant 100 : index
  %hundred = arith.muli %right, %c100 : index
  %both = arith.addi %hundred, %place : index
  %result = arith.index_cast %both : index to i64
  return %result : i64
}
