// Prefix-sums whose parts are computed at the same time inside of other parts, and sums inside of prefix-sums: what
// comes in from outside is what the first part starts with, and what the last one has is carried out.
// RUN: mdh run %s --entry within --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry in_order --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry table --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry sums --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry received --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=30 --size j=50 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=9 --size j=14 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=0 --size j=7 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=7 --size j=0 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry tiles --size i=9 --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry tiles --size i=0 --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry below --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry gaps --random 1 --check | FileCheck %s
// CHECK: check passed

func.func @within(%x: memref<97xi32>, %y: memref<97xi32>) {
  mdh.compute (i = 97)
    out_view(y = %y[i] : memref<97xi32>)
    md_hom(id, (ps(addi)))
    inp_view(x = %x[i] : memref<97xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: *}, core {i: 2}, L2 {i: 3}, L1 {i: 5}]>)
  return
}

// The order matters: x -> a x + b, one after the other.
func.func @in_order(%a: memref<97xi32>, %b: memref<97xi32>, %as: memref<97xi32>, %bs: memref<97xi32>) {
  mdh.compute (i = 97)
    out_view(as = %as[i] : memref<97xi32>, bs = %bs[i] : memref<97xi32>)
    md_hom(id, (ps(then)))
    inp_view(a = %a[i] : memref<97xi32>, b = %b[i] : memref<97xi32>)
    combine then associative (%a0: i32, %b0: i32, %a1: i32, %b1: i32) {
      %a01 = arith.muli %a0, %a1 : i32
      %b0a1 = arith.muli %b0, %a1 : i32
      %b01 = arith.addi %b0a1, %b1 : i32
      mdh.yield %a01, %b01 : i32, i32
    }
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: *}, L2 {i: 3}, core {i: 3}, L1 {i: 5}]>)
  return
}

func.func @table(%x: memref<9x14xi32>, %y: memref<9x14xi32>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: *, j: *}, core {i: 2, j: 3}, L1 {i: 2, j: 2}],
      decompose = {order: [main.i, main.j, core.j, core.i, L1.i, L1.j]}>)
  return
}

func.func @sums(%x: memref<9x14x7xi32>, %y: memref<9x14xi32>) {
  mdh.compute (k = 7, i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi32>)
    md_hom(id, (pw(addi), ps(addi), ps(addi)))
    inp_view(x = %x[i, j, k] : memref<9x14x7xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {k: *, i: *}, core {j: 3, k: 2}, L1 {i: 2, j: *, k: 2}],
      decompose = {order: [L2.k, L2.i, core.j, core.k, L1.k, L1.i, L1.j]}>)
  return
}

// Carries of its own, which it carries out.
func.func @received(%x: memref<9x14xi32>, %y: memref<9x14xi32>, %above: memref<14xi32>, %below: memref<14xi32>, %left: memref<9xi32>, %right: memref<9xi32>) {
  mdh.compute (i = 9, j = 14)
    out_view(y = %y[i, j] : memref<9x14xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<9x14xi32>)
    carry i (above = %above[j] : memref<14xi32>) -> (below = %below[j] : memref<14xi32>)
    carry j (left = %left[i] : memref<9xi32>) -> (right = %right[i] : memref<9xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2, j: 2}, L1 {i: *, j: *}]>)
  return
}

func.func @any(%x: memref<?x?xi32>, %y: memref<?x?xi32>, %left: memref<64xi32>, %right: memref<64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xi32>
  %m = memref.dim %x, %c1 : memref<?x?xi32>
  mdh.compute (i = %n, j = %m)
    out_view(y = %y[i, j] : memref<?x?xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<?x?xi32>)
    carry j (left = %left[i] : memref<64xi32>) -> (right = %right[i] : memref<64xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: *, j: *}, core {i: 2, j: 2}, L1 {i: 3, j: 4}]>)
  return
}

// Tiles one after the other: the last of them carries out; without any, what comes in is carried out.
func.func @tiles(%x: memref<?x14xi32>, %y: memref<?x14xi32>, %above: memref<14xi32>, %below: memref<14xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x14xi32>
  mdh.compute (i = %n, j = 14)
    out_view(y = %y[i, j] : memref<?x14xi32>)
    md_hom(id, (ps(addi), cc))
    inp_view(x = %x[i, j] : memref<?x14xi32>)
    carry i (above = %above[j] : memref<14xi32>) -> (below = %below[j] : memref<14xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, L1 {i: 2, j: 5}]>)
  return
}

// Where there is something from above and from the left, each is in what the other carries out or not, as the carries say.
func.func @below(%above: memref<4xf32>, %left: memref<f32>, %x: memref<4x4xf32>, %y: memref<4x4xf32>, %right: memref<4xf32>) {
  mdh.compute (p = 4, q = 4)
    out_view(y = %y[p, q] : memref<4x4xf32>)
    md_hom(id, (ps(addf), ps(addf)))
    inp_view(x = %x[p, q] : memref<4x4xf32>)
    carry p (above = %above[q] : memref<4xf32>)
    carry q (left = %left[] : memref<f32>) -> (right = %right[p] : memref<4xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {p: *, q: *}], decompose = {order: [L1.p, L1.q]}>)
  return
}

// What the model chooses for the sums of a part copies tiles of its own, since their points have gaps.
func.func @gaps(%y: memref<2x2x2x2xi64>) {
  mdh.compute (i = 2, j = 2, k = 2, p = 4 step 3 width 2, q = 2)
    out_view(y = %y[i, j, k, q] : memref<2x2x2x2xi64>)
    md_hom(() {
      %one = arith.constant 1 : i64
      mdh.yield %one : i64
    }, (cc, cc, cc, pw(addi), ps(addi)))
    inp_view()
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2, q: 2}, L2 {i: *, j: *, k: *, p: *, q: *}, L1 {p: 2}],
      decompose = {order: [core.i, core.q, L2.i, L2.j, L2.k, L2.q, L2.p, L1.p]}>)
  return
}
