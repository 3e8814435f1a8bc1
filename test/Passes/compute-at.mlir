// A computation that is computed at a level of another one: a tile of it in each part of that.
//
// RUN: mdh-opt %s --mdh-tile=levels=2 --canonicalize --cse | FileCheck %s --check-prefix TWO
// RUN: mdh-opt %s --mdh-tile=levels=1 --canonicalize --cse | FileCheck %s --check-prefix ONE
// RUN: mdh-opt %s --mdh-tiles --canonicalize --cse | FileCheck %s
// RUN: mdh-opt %s --mdh-tile=levels=0 | FileCheck %s --check-prefix NONE
#rows = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {j: 4}, register {j: *}],
  decompose = {order: [L2.i, L1.j, register.j]}, compute_at = {consumer: "y", level: L3.i}>
#all = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L3 {i: *}, L2 {i: 8, j: *}, simd {j: 16}],
  decompose = {order: [core.i, L3.i, L2.i, L2.j, simd.j]}>

// Its memory is for a tile of each core, a cache line apart.
// TWO-LABEL: func.func @chain
// TWO:       %[[TILE:.*]] = memref.alloc() {{.*}} : memref<2x16xf32>
// TWO-NOT:   memref.alloc
// TWO:       scf.forall (%[[PART:.*]]) =
// TWO:         scf.for %[[I:.*]] =
// TWO:           mdh.compute (i = %[[I]] to %[[END:.*]], j = 64)
// TWO-NEXT:        out_view(m = %[[TILE]][0, i] origin(%{{.*}}, %[[I]]) : memref<2x16xf32>)
// TWO-NEXT:        md_hom(id, (cc, pw(addf)))
// TWO-NEXT:        inp_view(x = %{{.*}}[i, j] : memref<100x64xf32>)
// TWO-NEXT:        schedule(#mdh.schedule<
// TWO-NEXT:          asm = cpu,
// TWO-NEXT:          layers = [L2 {i: 8, j: 1}, L1 {j: 4}, register {j: 16}],
// TWO:           mdh.compute (i = %[[I]] to %[[END]], j = 64)
// TWO-NEXT:        out_view(y = %{{.*}}[i, j] : memref<100x64xf32>)
// TWO-NEXT:        md_hom(subf, (cc, cc))
// TWO-NEXT:        inp_view(x = %{{.*}}, m = %[[TILE]][0, i] origin(%{{.*}}, %[[I]]) : memref<2x16xf32>)
// TWO:         {mdh.level = "L3.i"}
// TWO:       {mapping = [{{.*}}], mdh.level = "core.i"}
// TWO:       memref.dealloc %[[TILE]]
// TWO-NOT:   memref.dealloc

// Where its level is left to the tiles, it is computed for all of them.
// ONE-LABEL: func.func @chain
// ONE:       memref.alloc() {{.*}} : memref<2x64xf32>
// ONE:       scf.forall
// ONE-NEXT:    arith.divui
// ONE-NEXT:    arith.addi
// ONE-NEXT:    arith.minsi
// ONE-NOT:     scf.for
// ONE:         mdh.compute
// ONE-NEXT:      out_view(m
// ONE:         mdh.compute
// ONE-NEXT:      out_view(y

// With all levels, its own loops stand before those of the consumer's that are inside.
// CHECK-LABEL: func.func @chain
// CHECK:       scf.forall
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               out_view(m
// CHECK:             {mdh.level = "L1.j"}
// CHECK:           {mdh.level = "L2.i"}
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               out_view(y
// CHECK:             {mdh.level = "L2.j"}
// CHECK:           {mdh.level = "L2.i"}
// CHECK:         {mdh.level = "L3.i"}

// NONE:        compute_at = {consumer: y, level: L3.i}
func.func @chain(%x: memref<100x64xf32>, %y: memref<100x64xf32>) {
  %m = memref.alloc() : memref<100xf32>
  mdh.compute (i = 100, j = 64)
    out_view(m = %m[i] : memref<100xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<100x64xf32>)
    schedule(#rows)
  mdh.compute (i = 100, j = 64)
    out_view(y = %y[i, j] : memref<100x64xf32>)
    md_hom(subf, (cc, cc))
    inp_view(x = %x[i, j] : memref<100x64xf32>, m = %m[i] : memref<100xf32>)
    schedule(#all)
  memref.dealloc %m : memref<100xf32>
  return
}

// A stencil of a stencil: two points more.
// TWO-LABEL: func.func @halo
// TWO:       memref.alloc() {{.*}} : memref<16xf32>
// TWO:       scf.for %[[I:.*]] =
// TWO:         %[[FIRST:.*]] = arith.addi %[[I]], %c-1
// TWO:         scf.for %{{.*}} = %[[FIRST]] to
// TWO:           out_view(t = %{{.*}}[i] origin(%[[FIRST]]) : memref<16xf32>)
// TWO:         scf.for %{{.*}} = %[[I]] to
// TWO:           inp_view(t = %{{.*}}[i - 1][i + 1] origin(%[[FIRST]]) : memref<16xf32>)
func.func @halo(%x: memref<103xf32>, %y: memref<100xf32>) {
  %t = memref.alloc() : memref<101xf32>
  mdh.compute (i = 101)
    out_view(t = %t[i] : memref<101xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i][i + 2] : memref<103xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}], compute_at = {consumer: "y", level: L2.i}>)
  mdh.compute (i = 1 to 99)
    out_view(y = %y[i] : memref<100xf32>)
    md_hom(addf, (cc))
    inp_view(t = %t[i - 1][i + 1] : memref<101xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 14}]>)
  memref.dealloc %t : memref<101xf32>
  return
}
