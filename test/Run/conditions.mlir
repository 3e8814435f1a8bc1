// Conditions on indices narrow loops, and results are those of all points: triangles, bands, diagonals, their borders
// in tiles that divide nothing, boxes without a point, open sizes, 0 and 1.
// RUN: mdh run %s --entry lower --random 1 --size i=0 --size j=3 --size k=4 --check=all
// RUN: mdh run %s --entry lower --random 1 --size i=3 --size j=4 --size k=0 --check=all | FileCheck %s --check-prefix THREE
// RUN: mdh run %s --entry lower --random 1 --size i=1 --size j=1 --size k=1 --check=all | FileCheck %s
// RUN: mdh run %s --entry lower --random 1 --size i=7 --size j=90 --size k=29 --check=all | FileCheck %s
// RUN: mdh run %s --entry lower --random 1 --size i=83 --size j=70 --size k=61 --check=all | FileCheck %s
// RUN: mdh run %s --entry plain --random 2 --size i=5 --size j=3 --size k=0 --check=all | FileCheck %s
// RUN: mdh run %s --entry plain --random 2 --size i=13 --size j=3 --size k=19 --check=all | FileCheck %s
// RUN: mdh run %s --entry tiles --random 3 --size i=0 --size j=2 --size k=2 --check=all
// RUN: mdh run %s --entry tiles --random 3 --size i=37 --size j=41 --size k=0 --check=all | FileCheck %s
// RUN: mdh run %s --entry tiles --random 3 --size i=37 --size j=41 --size k=1 --check=all | FileCheck %s
// RUN: mdh run %s --entry tiles --random 3 --size i=37 --size j=41 --size k=53 --check-each-step --check=all | FileCheck %s
// RUN: mdh run %s --entry cores --random 4 --size i=9 --size k=0 --check=all | FileCheck %s
// RUN: mdh run %s --entry cores --random 4 --size i=9 --size k=50 --check=all | FileCheck %s
// RUN: mdh run %s --entry late --random 5 --size i=29 --size k=131 --check=all | FileCheck %s
// RUN: mdh run %s --entry band --random 6 --check=all | FileCheck %s
// RUN: mdh run %s --entry best --random 7 --check=all | FileCheck %s
// RUN: mdh run %s --entry output --random 8 --check=all | FileCheck %s
// RUN: mdh run %s --entry parts --random 8 --check=all | FileCheck %s
// RUN: mdh run %s --entry integers --random 9 --check=all | FileCheck %s
// RUN: mdh run %s --entry diagonal --random 10 --check=all | FileCheck %s
// RUN: mdh run %s --entry never --random 11 --check=all | FileCheck %s
// RUN: mdh run %s --entry halves --random 12 --check=all | FileCheck %s
// RUN: mdh run %s --entry chain --random 13 --check=all | FileCheck %s
// RUN: mdh run %s --entry scans --random 14 --check=all | FileCheck %s
// RUN: mdh run %s --entry threads --random 15 --device sim --check=all | FileCheck %s
// RUN: mdh run %s --entry window --random 16 --check=all | FileCheck %s
// RUN: mdh run %s --entry nothing --random 17 --check=all | FileCheck %s
// RUN: mdh run %s --entry quotients --random 18 --check=all | FileCheck %s
// RUN: mdh run %s --entry empty --in n=-1 --check=all | FileCheck %s
// RUN: mdh run %s --entry empty --in n=9 --check=all | FileCheck %s
// RUN: mdh run %s --entry lanes --random 19 --device sim --in n=0 --check=all | FileCheck %s
// RUN: mdh run %s --entry lanes --random 19 --device sim --in n=9 --check=all | FileCheck %s
// RUN: mdh run %s --entry lanes --random 19 --device sim --in n=150 --check=all | FileCheck %s
// CHECK: check  passed: {{[1-9][0-9]*}} of
// THREE: check  passed: 12 of 12 elements compared

#tiles = #mdh.schedule<asm = cpu, layers = [main {k: *}, L3 {i: *}, L2 {j: *}, L1 {i: 2, k: 5}, register {i: 3, j: 2}, simd {j: 8}],
  decompose = {order: [main.k, L3.i, L2.j, L1.i, L1.k, register.i, register.j, simd.j]},
  inputs = {B: {stage: {L3.i: L3}, layout: {L3.i: blocked(5, 16)}}},
  outputs = {C: {combine: {L1.k: register}}}>
#parts = #mdh.schedule<asm = cpu, layers = [main {k: *}, L2 {i: *, j: *}, L1 {k: 8}, register {i: 2, j: 2}, simd {j: 8}],
  decompose = {order: [main.k, L2.i, L2.j, L1.k, register.i, register.j, simd.j]}, outputs = {C: {combine: {L1.k: register}}}>
#cores = #mdh.schedule<asm = cpu, layers = [core {k: 3}, L2 {i: *}, L1 {k: *}, register {k: 4}],
  decompose = {order: [core.k, L2.i, L1.k, register.k]}>
#late = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {k: *}, register {i: 2}, simd {k: 8}],
  decompose = {order: [L2.i, L1.k, register.i, simd.k]},
  recompose = {order: [L2.i, simd.k, L1.k, register.i]}, outputs = {y: {combine: {simd.k: register}}}>
#band = #mdh.schedule<asm = cpu, layers = [L3 {k: *}, L2 {i: *}, L1 {k: 4}, register {i: 2}, simd {i: 4}],
  decompose = {order: [L3.k, L2.i, L1.k, register.i, simd.i]}, outputs = {y: {combine: {L1.k: register}}}>
#threads = #mdh.schedule<asm = cuda, layers = [block {i: *}, device {k: *}, thread {i: 8}, shared {k: 16}],
  decompose = {order: [block.i, thread.i, device.k, shared.k]},
  inputs = {x: {stage: {shared.k: shared}}}, outputs = {y: {combine: {device.k: register}}}>

func.func @lower(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.dim %A, %c0 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf32>
  %j = memref.dim %B, %c1 : memref<?x?xf32>
  mdh.compute (i = %i, j = %j, k = %k)
    out_view(C = %C[i, j] : memref<?x?xf32>)
    md_hom((%a: f32, %b: f32) {
      %zero = arith.constant 0.0 : f32
      %row = mdh.index 0 : index
      %at = mdh.index 2 : index
      %below = arith.cmpi sle, %at, %row : index
      %p = arith.mulf %a, %b : f32
      %v = arith.select %below, %p, %zero : f32
      mdh.yield %v : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf32>, B = %B[k, j] : memref<?x?xf32>)
  return
}
// Without tiles, each point has bounds of its own; here of a branch, from the diagonal on.
func.func @plain(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.dim %A, %c0 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf32>
  %j = memref.dim %B, %c1 : memref<?x?xf32>
  mdh.compute (i = %i, j = %j, k = %k)
    out_view(C = %C[i, j] : memref<?x?xf32>)
    md_hom((%a: f32, %b: f32) {
      %zero = arith.constant 0.0 : f32
      %row = mdh.index 0 : index
      %at = mdh.index 2 : index
      %below = arith.cmpi slt, %at, %row : index
      %v = scf.if %below -> f32 {
        scf.yield %zero : f32
      } else {
        %p = arith.mulf %a, %b : f32
        scf.yield %p : f32
      }
      mdh.yield %v : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf32>, B = %B[k, j] : memref<?x?xf32>)
    schedule(#mdh.schedule<>)
  return
}
// Both factors are triangular, and k is cut outside of all other loops: most tiles of its last parts are empty.
func.func @tiles(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.dim %A, %c0 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf32>
  %j = memref.dim %B, %c1 : memref<?x?xf32>
  mdh.compute (i = %i, j = %j, k = %k)
    out_view(C = %C[i, j] : memref<?x?xf32>)
    md_hom((%a: f32, %b: f32) {
      %zero = arith.constant 0.0 : f32
      %row = mdh.index 0 : index
      %column = mdh.index 1 : index
      %at = mdh.index 2 : index
      %below = arith.cmpi sle, %at, %row : index
      %right = arith.cmpi sge, %at, %column : index
      %both = arith.andi %below, %right : i1
      %p = arith.mulf %a, %b : f32
      %v = arith.select %both, %p, %zero : f32
      mdh.yield %v : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf32>, B = %B[k, j] : memref<?x?xf32>)
    schedule(#tiles)
  return
}
// Each core leaves a partial result, points or not.
func.func @cores(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.dim %x, %c0 : memref<?x?xf32>
  %k = memref.dim %x, %c1 : memref<?x?xf32>
  mdh.compute (i = %i, k = %k)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %row = mdh.index 0 : index
      %at = mdh.index 1 : index
      %above = arith.cmpi sgt, %at, %row : index
      %v = arith.select %above, %zero, %a : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<?x?xf32>)
    schedule(#cores)
  return
}
// Lanes of the sum are combined after its loop.
func.func @late(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.dim %x, %c0 : memref<?x?xf32>
  %k = memref.dim %x, %c1 : memref<?x?xf32>
  mdh.compute (i = %i, k = %k)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %three = arith.constant 3 : index
      %row = mdh.index 0 : index
      %at = mdh.index 1 : index
      %more = arith.muli %row, %three : index
      %below = arith.cmpi sle, %at, %more : index
      %v = arith.select %below, %a, %zero : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<?x?xf32>)
    schedule(#late)
  return
}
// A band around 2 * k = i + 20, of every third k.
func.func @band(%x: memref<40x50xf32>, %y: memref<40xf32>) {
  mdh.compute (i = 40, k = 1 to 50 step 3)
    out_view(y = %y[i] : memref<40xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %two = arith.constant 2 : index
      %width = arith.constant 9 : index
      %middle = arith.constant 20 : index
      %row = mdh.index 0 : index
      %at = mdh.index 1 : index
      %twice = arith.muli %at, %two : index
      %center = arith.addi %row, %middle : index
      %first = arith.subi %center, %width : index
      %last = arith.addi %center, %width : index
      %from = arith.cmpi sge, %twice, %first : index
      %to = arith.cmpi slt, %twice, %last : index
      %both = arith.andi %from, %to : i1
      %v = arith.select %both, %a, %zero : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<40x50xf32>)
    schedule(#band)
  return
}
// The neutral element is that of each component; the order of what is combined counts.
func.func @best(%x: memref<23x31xf32>, %y: memref<23xf32>, %z: memref<23xi64>) {
  mdh.compute (i = 23, k = 31)
    out_view(y = %y[i] : memref<23xf32>, z = %z[i] : memref<23xi64>)
    md_hom((%a: f32) {
      %nothing = arith.constant -1.0 : f32
      %none = arith.constant -1 : i64
      %row = mdh.index 0 : index
      %at = mdh.index 1 : index
      %number = arith.index_cast %at : index to i64
      %below = arith.cmpi sle, %at, %row : index
      %v = arith.select %below, %a, %nothing : f32
      %n = arith.select %below, %number, %none : i64
      mdh.yield %v, %n : f32, i64
    }, (cc, pw(last)))
    inp_view(x = %x[i, k] : memref<23x31xf32>)
    combine last associative neutral(-1.0 : f32, -1 : i64) (%a: f32, %n: i64, %b: f32, %m: i64) {
      %none = arith.constant -1 : i64
      %is_none = arith.cmpi eq, %m, %none : i64
      %last = arith.select %is_none, %a, %b : f32
      %number = arith.select %is_none, %n, %m : i64
      mdh.yield %last, %number : f32, i64
    }
  return
}
// Outside of the triangle of results is zero, without a loop over k.
func.func @output(%A: memref<45x33xf32>, %B: memref<33x51xf32>, %C: memref<45x51xf32>) {
  mdh.compute (i = 45, j = 51, k = 33)
    out_view(C = %C[i, j] : memref<45x51xf32>)
    md_hom((%a: f32, %b: f32) {
      %zero = arith.constant 0.0 : f32
      %row = mdh.index 0 : index
      %column = mdh.index 1 : index
      %below = arith.cmpi sle, %column, %row : index
      %p = arith.mulf %a, %b : f32
      %v = arith.select %below, %p, %zero : f32
      mdh.yield %v : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x33xf32>, B = %B[k, j] : memref<33x51xf32>)
  return
}
// The same in parts of k, each of which adds to what the one before it has left; all but the corners.
func.func @parts(%A: memref<45x33xf32>, %B: memref<33x51xf32>, %C: memref<45x51xf32>) {
  mdh.compute (i = 45, j = 51, k = 33)
    out_view(C = %C[i, j] : memref<45x51xf32>)
    md_hom((%a: f32, %b: f32) {
      %zero = arith.constant 0.0 : f32
      %ten = arith.constant 10 : index
      %row = mdh.index 0 : index
      %column = mdh.index 1 : index
      %last = arith.addi %row, %ten : index
      %first = arith.subi %row, %ten : index
      %below = arith.cmpi slt, %column, %last : index
      %above = arith.cmpi sgt, %column, %first : index
      %both = arith.andi %below, %above : i1
      %p = arith.mulf %a, %b : f32
      %v = arith.select %both, %p, %zero : f32
      mdh.yield %v : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x33xf32>, B = %B[k, j] : memref<33x51xf32>)
    schedule(#parts)
  return
}
// Integers: a product has the zeros of both factors.
func.func @integers(%A: memref<35x33xi32>, %B: memref<33x29xi32>, %C: memref<35x29xi32>) {
  mdh.compute (i = 35, j = 29, k = 33)
    out_view(C = %C[i, j] : memref<35x29xi32>)
    md_hom((%a: i32, %b: i32) {
      %zero = arith.constant 0 : i32
      %i = mdh.index 0 : index
      %j = mdh.index 1 : index
      %k = mdh.index 2 : index
      %row = arith.index_cast %i : index to i32
      %column = arith.index_cast %j : index to i32
      %at = arith.index_cast %k : index to i32
      %below = arith.cmpi sle, %at, %row : i32
      %right = arith.cmpi sgt, %column, %at : i32
      %x = arith.select %below, %a, %zero : i32
      %y = arith.select %right, %zero, %b : i32
      %p = arith.muli %x, %y : i32
      mdh.yield %p : i32
    }, (cc, cc, pw(addi)))
    inp_view(A = %A[i, k] : memref<35x33xi32>, B = %B[k, j] : memref<33x29xi32>)
  return
}
func.func @diagonal(%x: memref<33x41xf32>, %y: memref<33xf32>) {
  mdh.compute (i = 33, k = 41)
    out_view(y = %y[i] : memref<33xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %off = arith.cmpi ne, %k, %i : index
      %v = arith.select %off, %zero, %a : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<33x41xf32>)
  return
}
// No point contributes.
func.func @never(%x: memref<33x41xf32>, %y: memref<33xf32>) {
  mdh.compute (i = 33, k = 41)
    out_view(y = %y[i] : memref<33xf32>)
    md_hom((%a: f32) {
      %lowest = arith.constant 0xFF800000 : f32
      %far = arith.constant 100 : index
      %k = mdh.index 1 : index
      %there = arith.cmpi sgt, %k, %far : index
      %v = arith.select %there, %a, %lowest : f32
      mdh.yield %v : f32
    }, (cc, pw(maximumf)))
    inp_view(x = %x[i, k] : memref<33x41xf32>)
  return
}
// Sums are of another type than the results: tiles have no memory to add to.
func.func @halves(%x: memref<33x141xf16>, %y: memref<33xf16>) {
  mdh.compute (i = 33, k = 141)
    out_view(y = %y[i] : memref<33xf16>)
    md_hom((%a: f16) {
      %zero = arith.constant 0.0 : f16
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %below = arith.cmpi sle, %k, %i : index
      %v = arith.select %below, %a, %zero : f16
      %w = arith.extf %v : f16 to f32
      mdh.yield %w : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<33x141xf16>)
  return
}
// What others read is computed whole, in whichever loops.
#producer = #mdh.schedule<asm = cpu, layers = [L1 {p: *}], compute_at = {consumer: "y", level: L2.k}>
#consumer = #mdh.schedule<asm = cpu, layers = [L2 {k: *}, L1 {i: *, k: 4}], decompose = {order: [L2.k, L1.i, L1.k]}>
func.func @chain(%x: memref<40xf32>, %w: memref<12x40xf32>, %t: memref<40xf32>, %y: memref<12xf32>) {
  mdh.compute (p = 40)
    out_view(t = %t[p] : memref<40xf32>)
    md_hom((%a: f32) {
      %b = arith.addf %a, %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[p] : memref<40xf32>)
    schedule(#producer)
  mdh.compute (i = 12, k = 40)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom((%a: f32, %b: f32) {
      %zero = arith.constant 0.0 : f32
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %below = arith.cmpi sle, %k, %i : index
      %p = arith.mulf %a, %b : f32
      %v = arith.select %below, %p, %zero : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(w = %w[i, k] : memref<12x40xf32>, t = %t[k] : memref<40xf32>)
    schedule(#consumer)
  return
}
// A prefix-sum of sums under a condition.
func.func @scans(%x: memref<21x37xi32>, %y: memref<21xi32>) {
  mdh.compute (i = 21, k = 37)
    out_view(y = %y[i] : memref<21xi32>)
    md_hom((%a: i32) {
      %zero = arith.constant 0 : i32
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %below = arith.cmpi sle, %k, %i : index
      %v = arith.select %below, %a, %zero : i32
      mdh.yield %v : i32
    }, (ps(addi), pw(addi)))
    inp_view(x = %x[i, k] : memref<21x37xi32>)
  return
}
// Threads of a block go through the same iterations, with tiles that they copy cooperatively.
func.func @threads(%x: memref<44x77xf32>, %y: memref<44xf32>) {
  mdh.compute (i = 44, k = 77)
    out_view(y = %y[i] : memref<44xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %below = arith.cmpi sle, %k, %i : index
      %v = arith.select %below, %a, %zero : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<44x77xf32>)
    schedule(#threads)
  return
}
// A window of rows that moves, written with numbers without a sign: 0 <= i - k < 5.
func.func @window(%x: memref<64xf32>, %y: memref<60xf32>) {
  mdh.compute (i = 60, k = 64)
    out_view(y = %y[i] : memref<60xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %five = arith.constant 5 : index
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %d = arith.subi %i, %k : index
      %near = arith.cmpi ult, %d, %five : index
      %v = arith.select %near, %a, %zero : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[k] : memref<64xf32>)
  return
}
// No point of a sum of all contributes: there is one result, and no dimension of results.
func.func @nothing(%x: memref<40xi64>, %y: memref<i64>) {
  mdh.compute (k = 40)
    out_view(y = %y[] : memref<i64>)
    md_hom((%a: i64) {
      %zero = arith.constant 0 : i64
      %five = arith.constant 5 : index
      %k = mdh.index 0 : index
      %less = arith.subi %k, %five : index
      %there = arith.cmpi sle, %k, %less : index
      %v = arith.select %there, %a, %zero : i64
      mdh.yield %v : i64
    }, (pw(addi)))
    inp_view(x = %x[k] : memref<40xi64>)
  return
}
// Outside of the triangle of results divisors are 0: nothing is divided there.
func.func @quotients(%A: memref<45x33xi64>, %C: memref<45x51xi64>) {
  mdh.compute (i = 45, j = 51, k = 33)
    out_view(C = %C[i, j] : memref<45x51xi64>)
    md_hom((%a: i64) {
      %zero = arith.constant 0 : i64
      %i = mdh.index 0 : index
      %j = mdh.index 1 : index
      %above = arith.cmpi sgt, %j, %i : index
      %distance = arith.subi %j, %i : index
      %d = arith.index_cast %distance : index to i64
      %divisor = arith.maxsi %d, %zero : i64
      %v = scf.if %above -> i64 {
        %q = arith.divsi %a, %divisor : i64
        scf.yield %q : i64
      } else {
        scf.yield %zero : i64
      }
      mdh.yield %v : i64
    }, (cc, cc, pw(addi)))
    inp_view(A = %A[i, k] : memref<45x33xi64>)
  return
}
// A dimension that ends before it starts.
func.func @empty(%n: index, %y: memref<2x2x2xi64>) {
  mdh.compute (i = 2, j = 2, k = 2, p = %n)
    out_view(y = %y[i, j, k] : memref<2x2x2xi64>)
    md_hom(() {
      %one = arith.constant 1 : i64
      %lowest = arith.constant -9223372036854775808 : i64
      %five = arith.constant 5 : index
      %p = mdh.index 3 : index
      %less = arith.subi %p, %five : index
      %there = arith.cmpi sle, %p, %less : index
      %v = arith.select %there, %one, %lowest : i64
      mdh.yield %v : i64
    }, (cc, cc, cc, pw(maxsi)))
    inp_view()
  return
}
// Each thread has a sum of its own for all parts, which are combined after them: all of them have one, though the
// condition holds for less points than there are threads.
#lanes = #mdh.schedule<asm = cuda, layers = [block {i: *}, device {k: *}, thread {k: 32}],
  decompose = {order: [block.i, device.k, thread.k], assign: {thread.i: thread.y, thread.k: thread.x}},
  recompose = {order: [block.i, thread.k, device.k], assign: {thread.i: thread.y, thread.k: thread.x}}>
func.func @lanes(%x: memref<5x200xf32>, %y: memref<5xf32>, %n: index) {
  mdh.compute (i = 5, k = %n to 200)
    out_view(y = %y[i] : memref<5xf32>)
    md_hom((%a: f32) {
      %zero = arith.constant 0.0 : f32
      %ten = arith.constant 10 : index
      %i = mdh.index 0 : index
      %k = mdh.index 1 : index
      %end = arith.muli %i, %ten : index
      %below = arith.cmpi slt, %k, %end : index
      %v = arith.select %below, %a, %zero : f32
      mdh.yield %v : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<5x200xf32>)
    schedule(#lanes)
  return
}
