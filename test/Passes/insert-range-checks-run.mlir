// The assertions at work: what is fine runs, what is not aborts.
//
// DEFINE: %{lower} = mdh-opt --pass-pipeline="builtin.module(mdh-insert-range-checks,mdh-loops,mdh-llvm)"
// DEFINE: %{run} = mlir-runner -e main -entry-point-result=i32

// The buffers have 8 elements each.
// RUN: %{lower} %s | %{run} | FileCheck %s
// CHECK: 0
//
// One point more than there are elements; a step of 0.
// RUN: sed 's/%n = arith.constant 8/%n = arith.constant 9/' %s | %{lower} > %t.read
// RUN: not --crash %{run} %t.read
// RUN: sed 's/%by = arith.constant 2/%by = arith.constant 0/' %s | %{lower} > %t.step
// RUN: not --crash %{run} %t.step
//
// No points: nothing is read, so that nothing is outside, whatever the origin.
// RUN: sed 's/%n = arith.constant 8/%n = arith.constant 0/; s/%o = arith.constant 0/%o = arith.constant 99/' %s | %{lower} > %t.none
// RUN: %{run} %t.none
//
// An origin too far; elements written twice.
// RUN: sed 's/%o = arith.constant 0/%o = arith.constant 1/' %s | %{lower} > %t.origin
// RUN: not --crash %{run} %t.origin
// RUN: sed 's/%m = arith.constant 2/%m = arith.constant 3/' %s | %{lower} > %t.twice
// RUN: not --crash %{run} %t.twice

func.func @f(%x: memref<?xi32>, %y: memref<?xi32>, %n: index, %by: index, %m: index, %o: index) {
  // Writes each element once as long as the step is at least 2.
  mdh.compute (i = %n step %by)
    out_view(y = %y[i floordiv 2] origin(%o) : memref<?xi32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xi32>)
  // Writes each element once as long as there are at most two j.
  mdh.compute (i = 1, j = %m, k = 2)
    out_view(y = %y[2 * k + j] : memref<?xi32>)
    md_hom(id, (cc, cc, cc))
    inp_view(x = %x[j] : memref<?xi32>)
  return
}

func.func @main() -> i32 {
  %zero = arith.constant 0 : i32
  %n = arith.constant 8 : index
  %by = arith.constant 2 : index
  %m = arith.constant 2 : index
  %o = arith.constant 0 : index
  %x = memref.alloc() : memref<8xi32>
  %y = memref.alloc() : memref<8xi32>
  %xd = memref.cast %x : memref<8xi32> to memref<?xi32>
  %yd = memref.cast %y : memref<8xi32> to memref<?xi32>
  func.call @f(%xd, %yd, %n, %by, %m, %o)
      : (memref<?xi32>, memref<?xi32>, index, index, index, index) -> ()
  memref.dealloc %x : memref<8xi32>
  memref.dealloc %y : memref<8xi32>
  return %zero : i32
}
