// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-tile --canonicalize --cse | FileCheck %s

// Tiles of rows: those of a core are a parallel loop's, the last ones of each are cut off.
// CHECK-LABEL: func.func @rows
// CHECK:       scf.forall (%[[P:.*]]) = (0) to (1021) step (512) {
// CHECK:         %[[END:.*]] = arith.minsi %{{.*}}, %c1021
// CHECK:         scf.for %[[I:.*]] = %[[P]] to %[[END]] step %c8 {
// CHECK:           %[[LAST:.*]] = arith.minsi %{{.*}}, %[[END]]
// CHECK:           mdh.compute (i = %[[I]] to %[[LAST]], j = 64)
// CHECK:             layers = [register {i: 8, j: 64}],
// CHECK-NEXT:        decompose = {order: [register.j, register.i]}>)
// CHECK:       } {mapping = [#mdh.core<"core", 0>], mdh.level = "core.i"}
func.func @rows(%x: memref<1021x64xf32>, %v: memref<64xf32>, %y: memref<1021xf32>) {
  mdh.compute (i = 1021, j = 64)
      out_view(y = %y[i] : memref<1021xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(x = %x[i, j] : memref<1021x64xf32>, v = %v[j] : memref<64xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *}, register {i: 8, j: 64}],
        decompose = {order: [core.i, L1.i, register.j, register.i]}>)
  return
}

// Parts of a sum at the same time: each has its own partial result, to which its tiles add; then
// the partial results are combined.
// CHECK-LABEL: func.func @parts
// CHECK:       %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK:       scf.forall (%[[P:.*]]) = (0) to (1000) step (250) {
// CHECK:         %[[PART:.*]] = arith.divui %[[P]], %c250
// CHECK:         %[[OWN:.*]] = arith.subi %c0, %[[PART]]
// CHECK:         scf.for %[[I:.*]] = %[[P]] to %{{.*}} step %c50 {
// CHECK:           %[[LATER:.*]] = arith.cmpi uge, %{{.*}}, %c50
// CHECK:           mdh.compute (i = %[[I]] to %{{.*}})
// CHECK-NEXT:        out_view(partial_0 = %[[SUMS]][0] origin(%[[OWN]]) : memref<4xf32>)
// CHECK:             carry i (partial_0_1 = %[[SUMS]][0] origin(%[[OWN]]) : memref<4xf32>) valid %[[LATER]]
// CHECK:       mdh.compute (part = 4)
// CHECK-NEXT:    out_view(s = %{{.*}}[] : memref<f32>)
// CHECK-NEXT:    md_hom(id, (pw(addf)))
// CHECK-NEXT:    inp_view(parts_0 = %[[SUMS]][part] : memref<4xf32>)
// CHECK:       memref.dealloc %[[SUMS]]
func.func @parts(%x: memref<1000xf32>, %s: memref<f32>) {
  mdh.compute (i = 1000)
      out_view(s = %s[] : memref<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : memref<1000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [core {i: 4}, L2 {i: 5}, register {i: *}],
        decompose = {order: [core.i, L2.i, register.i]}>)
  return
}

// Parts of a prefix-sum at the same time: what each part combines to, the prefix-sum of that, and
// each part again, with what is before it.
// CHECK-LABEL: func.func @scan
// CHECK:       %[[TOTALS:.*]] = memref.alloc() {{.*}} : memref<4xf32>
// CHECK:       %[[BEFORE:.*]] = memref.alloc() {{.*}} : memref<5xf32>
// CHECK:       scf.forall
// CHECK:           mdh.compute (i =
// CHECK-NEXT:        out_view(partial_0 = %[[TOTALS]][0]
// CHECK-NEXT:        md_hom(id, (pw(addf)))
// CHECK:       mdh.compute (part = 4)
// CHECK-NEXT:    out_view(prefix_0 = %[[BEFORE]][part] origin(-1) : memref<5xf32>)
// CHECK-NEXT:    md_hom(id, (ps(addf)))
// CHECK-NEXT:    inp_view(partial_0 = %[[TOTALS]][part] : memref<4xf32>)
// CHECK:       scf.forall
// CHECK:           mdh.compute (i =
// CHECK-NEXT:        out_view(y =
// CHECK-NEXT:        md_hom(id, (ps(addf)))
// CHECK:             carry i
func.func @scan(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  mdh.compute (i = 1000)
      out_view(y = %y[i] : memref<1000xf32>)
      md_hom(id, (ps(addf)))
      inp_view(x = %x[i] : memref<1000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [core {i: 4}, L2 {i: 5}, register {i: *}],
        decompose = {order: [core.i, L2.i, register.i]}>)
  return
}

// Tiles of B are copied into blocks before the loop over rows; each tile of the product reads from
// one of them.
// CHECK-LABEL: func.func @packed
// CHECK:       %[[PACK:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x4x32x16xf32, #mdh.memory<"L3">>
// CHECK:       scf.for %[[K:.*]] = %c0 to %c96 step %c32 {
// CHECK-NOT:     alloc
// CHECK:         mdh.compute (c1 = 4, c2 = 32, c3 = 16)
// CHECK-NEXT:      out_view(to = %[[PACK]][0, c1, c2, c3] : memref<1x4x32x16xf32, #mdh.memory<"L3">>)
// CHECK:         scf.for %[[I:.*]] = %c0 to %c64 step %c4 {
// CHECK:           scf.for %[[J:.*]] = %c0 to %c64 step %c16 {
// CHECK:             mdh.compute (i = %[[I]] to %{{.*}}, j = %[[J]] to %{{.*}}, k = %[[K]] to %{{.*}})
// CHECK:               B = %[[PACK]][0, 0, k, j]
// CHECK-NEXT:          carry k (partial_0 = %{{.*}}[i, j] : memref<64x64xf32>) valid
func.func @packed(%A: memref<64x96xf32>, %B: memref<96x64xf32>, %C: memref<64x64xf32>) {
  mdh.compute (i = 64, j = 64, k = 96)
      out_view(C = %C[i, j] : memref<64x64xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x96xf32>, B = %B[k, j] : memref<96x64xf32>)
      schedule(#mdh.schedule<asm = cpu,
        layers = [main {k: *}, L3 {i: *}, L1 {j: *}, register {i: 4, k: 32}, simd {j: 16}],
        decompose = {order: [main.k, L3.i, L1.j, register.k, register.i, simd.j]},
        inputs = {B: {stage: {L3.i: L3}, layout: {L3.i: blocked(32, 16)}}},
        outputs = {C: {combine: {register.k: register}}}>)
  return
}

// A copy that has r and s next to c on both sides, and all of them, is one of rows and columns: it
// is transposed in registers.
// CHECK-LABEL: func.func @merged
// CHECK:       %[[PACK:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x1x1x4x8x3x3x16xf32, #mdh.memory<"L3">>
// CHECK-DAG:   %[[FROM:.*]] = memref.collapse_shape {{.*}} into memref<64x72xf32>
// CHECK-DAG:   %[[TO:.*]] = memref.collapse_shape {{.*}} into memref<1x1x1x4x72x16xf32, #mdh.memory<"L3">>
// CHECK:       mdh.compute ([[K:.*]] = 4, [[C:.*]] = 72, [[L:.*]] = 16)
// CHECK-NEXT:    out_view(to = %[[TO]][0, 0, 0, [[K]], [[C]], [[L]]]
// CHECK:         inp_view(from = %[[FROM]]{{\[}}[[K]] * 16 + [[L]], [[C]]]
// CHECK:         schedule({{.*}}{{$}}
// CHECK:           register {[[C]]: 16}, simd {[[L]]: 16}
func.func @merged(%image: memref<8x10x10xf32>, %filter: memref<64x8x3x3xf32>,
    %out: memref<64x8x8xf32>) {
  mdh.compute (p = 8, q = 8, k = 64, c = 8, r = 3, s = 3)
      out_view(out = %out[k, p, q] : memref<64x8x8xf32>)
      md_hom(mulf, (cc, cc, cc, pw(addf), pw(addf), pw(addf)))
      inp_view(image = %image[c, p + r, q + s] : memref<8x10x10xf32>,
               filter = %filter[k, c, r, s] : memref<64x8x3x3xf32>)
      schedule(#mdh.schedule<asm = cpu,
        layers = [L1 {p: *, k: *, c: *, r: *, s: *}, register {q: 8}, simd {k: 16}],
        decompose = {order: [L1.p, L1.k, L1.c, L1.r, L1.s, register.q, simd.k]},
        inputs = {filter: {layout: {L1.p: [permuted(2, 3, 4, 1), blocked(8, 3, 3, 16)]},
                           stage: {L1.p: L3}}},
        outputs = {out: {combine: {L1.c: register}}}>)
  return
}

// Results that are in registers from a loop on that is no leaf: they have memory of that name.
// CHECK-LABEL: func.func @kept
// CHECK: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<12xf32, #mdh.memory<"register">>
// CHECK: scf.for
// CHECK: carry k (partial_0 = %[[KEPT]][i] : memref<12xf32, #mdh.memory<"register">>) valid
// CHECK: {mdh.level = "L2.k"}
// CHECK: inp_view(from = %[[KEPT]][
func.func @kept(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {k: *}, L1 {i: *, k: 4}],
      decompose = {order: [L2.k, L1.i, L1.k]}, outputs = {y: {combine: {L2.k: register}}}>)
  return
}

// Levels that are given to others of the machine say so; dimensions of cores are names to a CPU.
// CHECK-LABEL: func.func @assigned
// CHECK: scf.forall
// CHECK: {mapping = [#mdh.core<"core", 1>], mdh.level = "core.i on core.y"}
func.func @assigned(%x: memref<8x12xf32>, %y: memref<8x12xf32>) {
  mdh.compute (i = 8, j = 12)
    out_view(y = %y[i, j] : memref<8x12xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x12xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *, j: *}],
      decompose = {assign: {core.i: core.y, core.j: core.x}}>)
  return
}

// -----

// Without a schedule there are no tiles.
// Silent: none were asked for; schedules that cannot be followed are errors.
// CHECK-LABEL: func.func @none
// CHECK-NEXT:    mdh.compute (i = 8)
func.func @none(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----

func.func @phases(%x: memref<8x20xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{has a schedule whose phases are separate loop nests: run mdh-split-phases first}}
  mdh.compute (i = 8, k = 20)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x20xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}],
      decompose = {order: [L1.k, L1.i]}, recompose = {order: [L1.i, L1.k]},
      outputs = {y: {scalar: L2}}>)
  return
}
