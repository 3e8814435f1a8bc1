// Vectors of which one lane is left store one element, also of a narrower type.
// RUN: mdh run %s --entry first --random 1 --check | FileCheck %s --check-prefix FIRST
// FIRST: check  passed: 20 of 20 elements compared, no difference
// RUN: mdh run %s --entry exact --random 1 --check | FileCheck %s --check-prefix EXACT
// EXACT: check  passed: 9 of 9 elements compared, no difference
// RUN: mdh run %s --entry bytes --random 1 --check | FileCheck %s --check-prefix BYTES
// BYTES: check  passed: 17 of 17 elements compared, no difference
// RUN: mdh run %s --entry sums --random 1 --check | FileCheck %s --check-prefix SUMS
// SUMS: check  passed: 65 of 65 elements compared, no difference

func.func @first(%x: memref<9xi64>, %y: memref<20xi32>) {
  %p = mdh.inp_view (a = 9) (%x[a] : memref<9xi64>) : !mdh.mda<9, i64>
  %h = mdh.hom(id, (cc)) %p : !mdh.mda<9, i64> -> !mdh.mda<9, i64>
  mdh.out_view (a) %h -> (%y[a] : memref<20xi32>) : !mdh.mda<9, i64>
  return
}
func.func @exact(%x: memref<9xi64>, %y: memref<9xi32>) {
  %p = mdh.inp_view (a = 9) (%x[a] : memref<9xi64>) : !mdh.mda<9, i64>
  %h = mdh.hom(id, (cc)) %p : !mdh.mda<9, i64> -> !mdh.mda<9, i64>
  mdh.out_view (a) %h -> (%y[a] : memref<9xi32>) : !mdh.mda<9, i64>
  return
}
func.func @bytes(%x: memref<17xi32>, %y: memref<17xi8>) {
  %p = mdh.inp_view (a = 17) (%x[a] : memref<17xi32>) : !mdh.mda<17, i32>
  %h = mdh.hom(id, (cc)) %p : !mdh.mda<17, i32> -> !mdh.mda<17, i32>
  mdh.out_view (a) %h -> (%y[a] : memref<17xi8>) : !mdh.mda<17, i32>
  return
}
func.func @sums(%x: memref<65xi64>, %y: memref<65xi16>) {
  %p = mdh.inp_view (a = 65) (%x[a] : memref<65xi64>) : !mdh.mda<65, i64>
  %h = mdh.hom(id, (ps(addi))) %p : !mdh.mda<65, i64> -> !mdh.mda<65, i64>
  mdh.out_view (a) %h -> (%y[a] : memref<65xi16>) : !mdh.mda<65, i64>
  return
}
