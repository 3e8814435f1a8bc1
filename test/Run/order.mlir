// An operator that does not commute keeps the order of what it combines, also in blocks of
// several vectors: the last element of 63, and of any number; a linear recurrence.
// RUN: mdh run %s --entry last --random 1 --check | FileCheck %s --check-prefix ONE
// RUN: mdh run %s --entry any --random 1 --size k=9 --check | FileCheck %s --check-prefix ONE
// RUN: mdh run %s --entry any --random 1 --size k=127 --check | FileCheck %s --check-prefix ONE
// RUN: mdh run %s --entry any --random 1 --size k=1000 --check | FileCheck %s --check-prefix ONE
// ONE: check  passed: 1 of 1 elements compared, no difference
// RUN: mdh run %s --entry then --random 1 --check | FileCheck %s --check-prefix TWO
// TWO: check  passed: 6 of 6 elements compared, no difference
// RUN: mdh run %s --entry sums --random 1 --check | FileCheck %s --check-prefix SUMS
// SUMS: check  passed: 131 of 131 elements compared, no difference

mdh.combine @second associative (%a: i64, %b: i64) {
  mdh.yield %b : i64
}
// x -> a * x + b, then c * x + d.
mdh.combine @compose associative (%a: i64, %b: i64, %c: i64, %d: i64) {
  %factor = arith.muli %a, %c : i64
  %scaled = arith.muli %b, %c : i64
  %sum = arith.addi %scaled, %d : i64
  mdh.yield %factor, %sum : i64, i64
}
func.func @last(%x: memref<63xi64>, %y: memref<i64>) {
  %points = mdh.inp_view (k = 63) (%x[k] : memref<63xi64>) : !mdh.mda<63, i64>
  %one = mdh.hom(id, (pw(@second))) %points : !mdh.mda<63, i64> -> !mdh.mda<1, i64>
  mdh.out_view (k) %one -> (%y[] : memref<i64>) : !mdh.mda<1, i64>
  return
}
func.func @any(%x: memref<?xi64>, %y: memref<i64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi64>
  %points = mdh.inp_view (k = %n) (%x[k] : memref<?xi64>) : !mdh.mda<?, i64>
  %one = mdh.hom(id, (pw(@second))) %points : !mdh.mda<?, i64> -> !mdh.mda<1, i64>
  mdh.out_view (k) %one -> (%y[] : memref<i64>) : !mdh.mda<1, i64>
  return
}
func.func @then(%f: memref<3x100xi64>, %g: memref<3x100xi64>, %a: memref<3xi64>, %b: memref<3xi64>) {
  %points = mdh.inp_view (i = 3, k = 100) (%f[i, k] : memref<3x100xi64>, %g[i, k] : memref<3x100xi64>)
    : !mdh.mda<3x100, i64, i64>
  %maps = mdh.hom(id, (cc, pw(@compose))) %points : !mdh.mda<3x100, i64, i64> -> !mdh.mda<3x1, i64, i64>
  mdh.out_view (i, k) %maps -> (%a[i] : memref<3xi64>, %b[i] : memref<3xi64>) : !mdh.mda<3x1, i64, i64>
  return
}
// Lanes of a sum that is read repeatedly: what they read is not packed.
func.func @sums(%x: tensor<15x1xi32>, %y: tensor<131xi64>) -> tensor<131xi64> {
  %points = mdh.inp_view (a = 15, b = 1, c = 0 to 130 step 3) (%x[a, b] pad(3 : i32) : tensor<15x1xi32>)
    : !mdh.mda<15x1x44, i32>
  %sums = mdh.hom((%e: i32) {
    %w = arith.extsi %e : i32 to i64
    mdh.yield %w : i64
  }, (pw(xori), pw(xori), cc)) %points : !mdh.mda<15x1x44, i32> -> !mdh.mda<1x1x44, i64>
  %r = mdh.out_view (a, b, c) %sums -> (%y[c + 1] : tensor<131xi64>) : !mdh.mda<1x1x44, i64>
  return %r : tensor<131xi64>
}
