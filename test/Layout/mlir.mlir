// The functions that a layout is printed as are lowered by stock MLIR and run: what `inv` gives is
// taken back by `apply`, and the first offsets are the layout's.
//
// RUN: mdh layout "OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])" --emit mlir > %t.mlir
// RUN: cat %s >> %t.mlir
// RUN: mlir-opt %t.mlir --lower-affine --convert-scf-to-cf --convert-math-to-llvm --expand-strided-metadata --arith-expand --convert-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=i64 \
// RUN:   | FileCheck %s

// CHECK: 36

// How many offsets come back.
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c36 = arith.constant 36 : index
  %zero = arith.constant 0 : i64
  %right = scf.for %x = %c0 to %c36 step %c1 iter_args(%sum = %zero) -> (i64) {
    %index:2 = func.call @layout_inv(%x) : (index) -> (index, index)
    %back = func.call @layout_apply(%index#0, %index#1) : (index, index) -> index
    %same = arith.cmpi eq, %back, %x : index
    %one = arith.extui %same : i1 to i64
    %next = arith.addi %sum, %one : i64
    scf.yield %next : i64
  }
  return %right : i64
}
