// Schedules whose phases are separate loop nests, whose parts are deferred, and whose
// results have memory of their own.
// RUN: mdh run %s --entry a --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry b --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry c --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry d --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry e --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry g --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry h --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry twice --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry parts --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry i --random 1 --check | FileCheck %s
// CHECK: check  passed: 11 of 11 elements compared
// RUN: mdh run %s --entry five --random 1 --check | FileCheck %s --check-prefix FIVE
// FIVE: check  passed: 96 of 96 elements compared
// RUN: mdh-opt %s --mdh-tiles | FileCheck %s --check-prefix IR

// Re-composition in an order of its own: what the scalar function gives is in L2.
#a = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}],
  decompose = {order: [L1.k, L1.i]}, recompose = {order: [L1.i, L1.k]}, outputs = {y: {scalar: L2}}>
// IR-LABEL: @a
// IR: memref.alloc() {{.*}} : memref<11x23xf32, #mdh.memory<"L2">>
// IR: scf.for
// IR: scf.for
// IR: mdh.compute
// IR: mdh.level = "L1.i"
// IR: mdh.level = "L1.k"
// IR: scf.for

// De-composition in an order of its own: a copy of x, transposed.
#b = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {i: 2, k: 3}],
  decompose = {order: [L2.k, L2.i, L1.k, L1.i]}, scalar = {order: [L2.i, L2.k, L1.i, L1.k]},
  inputs = {x: {stage: {L1.k: L2}, layout: {L1.k: permuted(2, 1)}}}>
// IR-LABEL: @b
// IR: memref.alloc() {{.*}} : memref<23x11xf32, #mdh.memory<"L2">>

// The cores' parts of each tile are combined after all tiles, once.
#c = #mdh.schedule<asm = cpu, layers = [core {k: 2}, L2 {i: *}, L1 {k: *}],
  decompose = {order: [L2.i, core.k, L1.k]}, recompose = {order: [core.k, L2.i, L1.k]}>
// IR-LABEL: @c
// IR: memref.alloc() {{.*}} : memref<2x11xf32>
// IR: scf.for
// IR: scf.forall
// IR: mdh.level = "core.k"
// IR: mdh.level = "L2.i"
// IR: mdh.compute (i = 11, part = 2)

// Of tiles of k, too: each core adds up its parts of them.
#d = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: 3}, core {k: 2}, L1 {k: *}],
  decompose = {order: [L2.k, L2.i, core.k, L1.k]}, recompose = {order: [core.k, L2.k, L2.i, L1.k]}>

// Results are combined in memory of their own, in a layout.
#e = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {i: 2, k: 4}],
  decompose = {order: [L2.k, L2.i, L1.i, L1.k]},
  outputs = {y: {combine: {L2.i: L2}, layout: {L2.i: padded(3)}}}>
// IR-LABEL: @e
// IR: memref.alloc() {{.*}} : memref<14xf32, #mdh.memory<"L2">>
// IR: scf.if
#g = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {i: 2, k: 4}],
  decompose = {order: [L2.k, L2.i, L1.i, L1.k]}, outputs = {y: {combine: {L1.i: L1}}}>

// One version of the block, masked, and two.
#h = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, register {i: 3, k: *}, simd {i: 4}],
  decompose = {order: [L2.i, register.k, register.i, simd.i]},
  outputs = {y: {combine: {register.k: register}}}, tails = {i: mask}>
#i = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, register {i: 3, k: *}, simd {i: 4}],
  decompose = {order: [L2.i, register.k, register.i, simd.i]},
  outputs = {y: {combine: {register.k: register}}}, tails = {i: peel}>
func.func @a(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#a)
  return
}
func.func @b(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#b)
  return
}
func.func @c(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#c)
  return
}
func.func @d(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#d)
  return
}
func.func @e(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#e)
  return
}
func.func @g(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#g)
  return
}
func.func @h(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#h)
  return
}
func.func @i(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#i)
  return
}

// Staged for each core, and again in a layout: the cores have no axis in it.
#twice = #mdh.schedule<asm = cpu, layers = [main {k: *}, core {i: 2}, L2 {i: *}, L1 {k: 2}, register {i: 4}],
  decompose = {order: [core.i, L2.i, main.k, L1.k, register.i]},
  inputs = {x: {stage: {L2.i: L2, main.k: L1}, layout: {main.k: [permuted(2, 1), padded(1, 0)]}}}>
func.func @twice(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#twice)
  return
}
// Parts of parts: partial results of partial results.
#parts = #mdh.schedule<asm = cpu, layers = [main {i: *}, core {k: 2}, L1 {k: *}, register {k: 2}, simd {k: 2}],
  decompose = {order: [main.i, core.k, L1.k, register.k, simd.k]}, outputs = {y: {combine: {L1.k: register}}}>
func.func @parts(%x: memref<11x23xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 23)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x23xf32>)
    schedule(#parts)
  return
}

// The copy of x has two of five dimensions, of which q is the second: the machine's dimension `d4`
// is `y` there.
func.func @five(%x: memref<3x4xf32>, %y: memref<3x2x2x2x4xf32>) {
  mdh.compute (i = 3, j = 2, k = 2, p = 2, q = 4)
    out_view(y = %y[i, j, k, p, q] : memref<3x2x2x2x4xf32>)
    md_hom(id, (cc, cc, cc, cc, cc))
    inp_view(x = %x[i, q] : memref<3x4xf32>)
    schedule(#mdh.schedule<
      decompose = {assign: {core.q: main.d4, main.q: core.d4}},
      scalar = {order: [main.i, main.j, main.k, main.q, main.p]},
      inputs = {x: {stage: {main.i: L2}}}>)
  return
}
