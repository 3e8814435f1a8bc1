// A prefix-sum without points has no last one whose value it could carry out: what comes in goes on as it is, and
// nothing else is written. Beside it, a sum has all of its points.
// RUN: mdh run %s --entry whole --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry rows --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry cores --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry tiles --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry lanes --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry table --random 1 --check-each-step | FileCheck %s
// CHECK: check passed: {{.*}}, no difference

func.func @whole(%x: memref<5x7xi32>, %y: memref<5xi32>, %above: memref<i32>, %below: memref<i32>, %left: memref<i32>) {
  mdh.compute (i = 2 to 2, j = 7)
    out_view(y = %y[i] : memref<5xi32>)
    md_hom(id, (ps(addi), pw(addi)))
    inp_view(x = %x[i, j] : memref<5x7xi32>)
    carry i (above = %above[] : memref<i32>) -> (below = %below[] : memref<i32>)
    carry j (left = %left[] : memref<i32>)
    schedule(#mdh.schedule<>)
  return
}

func.func @rows(%c: memref<2x2xi64>, %d: memref<i64>, %y: memref<2x1x2xi64>, %e: memref<2x2xi64>) {
  mdh.compute (i = 2, j = 0, p = 2, q = 2)
    out_view(y = %y[i, j, p] : memref<2x1x2xi64>)
    md_hom(() {
      %one = arith.constant 1 : i64
      mdh.yield %one : i64
    }, (cc, ps(addi), cc, pw(addi)))
    inp_view()
    carry j (c = %c[i, p] : memref<2x2xi64>) -> (e = %e[i, p] : memref<2x2xi64>)
    carry q (d = %d[] : memref<i64>)
    schedule(#mdh.schedule<>)
  return
}

// With a level that takes all that is left of a dimension: of nothing, parts of one point.
func.func @cores(%x: memref<5x7xi32>, %y: memref<5xi32>, %above: memref<i32>, %below: memref<i32>, %left: memref<i32>) {
  mdh.compute (i = 2 to 2, j = 7)
    out_view(y = %y[i] : memref<5xi32>)
    md_hom(id, (ps(addi), pw(addi)))
    inp_view(x = %x[i, j] : memref<5x7xi32>)
    carry i (above = %above[] : memref<i32>) -> (below = %below[] : memref<i32>)
    carry j (left = %left[] : memref<i32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2, j: 2}, L1 {i: *, j: *}]>)
  return
}

func.func @tiles(%x: memref<5x7xi32>, %y: memref<5xi32>, %above: memref<i32>, %below: memref<i32>, %left: memref<i32>) {
  mdh.compute (i = 2 to 2, j = 7)
    out_view(y = %y[i] : memref<5xi32>)
    md_hom(id, (ps(addi), pw(addi)))
    inp_view(x = %x[i, j] : memref<5x7xi32>)
    carry i (above = %above[] : memref<i32>) -> (below = %below[] : memref<i32>)
    carry j (left = %left[] : memref<i32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: 2, j: *}, L1 {i: *, j: 3}]>)
  return
}

func.func @table(%x: memref<5x7xi32>, %y: memref<5x7xi32>, %above: memref<7xi32>, %below: memref<7xi32>, %left: memref<5xi32>, %right: memref<5xi32>) {
  mdh.compute (i = 5, j = 2 to 2)
    out_view(y = %y[i, j] : memref<5x7xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<5x7xi32>)
    carry i (above = %above[j] : memref<7xi32>) -> (below = %below[j] : memref<7xi32>)
    carry j (left = %left[i] : memref<5xi32>) -> (right = %right[i] : memref<5xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2, j: 2}, L1 {i: *, j: *}]>)
  return
}

// Leaves carry out, too.
func.func @lanes(%x: memref<5x8xi32>, %y: memref<5x8xi32>, %above: memref<8xi32>, %below: memref<8xi32>) {
  mdh.compute (i = 5 to 5, j = 8)
    out_view(y = %y[i, j] : memref<5x8xi32>)
    md_hom(id, (ps(addi), cc))
    inp_view(x = %x[i, j] : memref<5x8xi32>)
    carry i (above = %above[j] : memref<8xi32>) -> (below = %below[j] : memref<8xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: 1}, simd {j: 8}]>)
  return
}
