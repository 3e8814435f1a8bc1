// A combined dimension in parts that has no points: the result is the neutral element, whether
// the parts are computed by cores or one after the other.
// RUN: mdh run %s --entry cores --random 1 --size k=0 --check | FileCheck %s
// RUN: mdh run %s --entry cores --random 1 --size k=1 --check | FileCheck %s
// RUN: mdh run %s --entry cores --random 1 --size k=41 --check | FileCheck %s
// RUN: mdh run %s --entry tiles --random 1 --size k=0 --check | FileCheck %s
// RUN: mdh run %s --entry tiles --random 1 --size k=5 --check | FileCheck %s
// RUN: mdh run %s --entry inner --random 1 --size k=41 --size l=0 --check | FileCheck %s
// RUN: mdh run %s --entry inner --random 1 --size k=0 --size l=3 --check | FileCheck %s
// RUN: mdh run %s --entry inner --random 1 --size k=41 --size l=3 --check | FileCheck %s
// CHECK: check  passed: 5 of 5 elements compared
// RUN: mdh run %s --entry never --random 1 --check | FileCheck %s --check-prefix NEVER
// NEVER: check  passed: 5 of 5 elements compared, no difference
// RUN: mdh run %s --entry gaps --size j=1 --random 1 --device sim --fallback cpu --check | FileCheck %s --check-prefix GAPS
// GAPS: check  passed

#cores = #mdh.schedule<asm = cpu, layers = [core {k: 2}, L2 {i: *}, L1 {k: *}, register {k: 4}],
  decompose = {order: [core.k, L2.i, L1.k, register.k]}>
#tiles = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {k: 4}],
  decompose = {order: [L2.k, L2.i, L1.k]}>
#inner = #mdh.schedule<asm = cpu, layers = [core {k: 2}, L2 {i: *, k: *, l: *}],
  decompose = {order: [core.k, L2.i, L2.k, L2.l]}>
#never = #mdh.schedule<asm = cpu, layers = [core {k: 2}, L2 {i: *}],
  decompose = {order: [core.k, L2.i]}>

func.func @cores(%x: memref<5x?xf32>, %y: memref<5xf32>) {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<5x?xf32>
  mdh.compute (i = 5, k = %n)
    out_view(y = %y[i] : memref<5xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<5x?xf32>)
    schedule(#cores)
  return
}
func.func @tiles(%x: memref<5x?xf32>, %y: memref<5xf32>) {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<5x?xf32>
  mdh.compute (i = 5, k = %n)
    out_view(y = %y[i] : memref<5xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<5x?xf32>)
    schedule(#tiles)
  return
}
func.func @never(%x: memref<5x3xf32>, %y: memref<5xf32>) {
  mdh.compute (i = 5, k = 3 to 3)
    out_view(y = %y[i] : memref<5xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<5x3xf32>)
    schedule(#never)
  return
}

// No points whatever the width of a group of them is: what the schedule says of others does not matter.
func.func @gaps(%x: memref<5x3x?xf32>, %y: memref<5x?xf32>) {
  %c2 = arith.constant 2 : index
  %w = memref.dim %x, %c2 : memref<5x3x?xf32>
  mdh.compute (i = 5 step 2 width %w, j = %w, k = 3 to 3 step 2 width %w)
    out_view(y = %y[i, j] : memref<5x?xf32>)
    md_hom(id, (cc, cc, pw(addf)))
    inp_view(x = %x[i, k, j] : memref<5x3x?xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {k: *}, block {i: *, j: *}, thread {i: 4}],
      decompose = {order: [block.i, block.j, thread.i, device.k]}>)
  return
}

// Another dimension than that of the parts: without a neutral element they have no results then.
func.func @inner(%x: memref<5x?x?xf32>, %e: memref<5xf32>, %y: memref<5xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c1 : memref<5x?x?xf32>
  %m = memref.dim %x, %c2 : memref<5x?x?xf32>
  mdh.compute (i = 5, k = %n, l = %m)
    out_view(y = %y[i] : memref<5xf32>)
    md_hom(id, (cc, pw(largest), pw(largest)))
    inp_view(x = %x[i, k, l] : memref<5x?x?xf32>)
    combine largest commutative associative (%a: f32, %b: f32) {
      %r = arith.maxnumf %a, %b : f32
      mdh.yield %r : f32
    }
    carry k (before = %e[i] : memref<5xf32>)
    schedule(#inner)
  return
}
