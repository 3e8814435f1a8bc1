// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-split-phases | FileCheck %s

// Sixteen lanes of 32-bit results are too wide for what is copied, so that the copy has loops.
// CHECK-LABEL: func.func @wide
// CHECK: mdh.compute (i = 32)
// CHECK-NEXT: out_view(x_0 =
// CHECK: decompose = {assign: {main.i: simd.x, simd.i: main.x}, order: [L1.i, simd.i]}>)
// CHECK: mdh.compute (i = 32)
// CHECK-NEXT: out_view(y =
// CHECK: decompose = {order: [simd.i, L1.i]}>)
func.func @wide(%x: memref<32xf64>, %y: memref<32xi32>) {
  mdh.compute (i = 32)
    out_view(y = %y[i] : memref<32xi32>)
    md_hom((%v: f64) {
      %n = arith.fptosi %v : f64 to i32
      mdh.yield %n : i32
    }, (cc))
    inp_view(x = %x[i] : memref<32xf64>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}],
      decompose = {order: [L1.i, simd.i]}, scalar = {order: [simd.i, L1.i]},
      inputs = {x: {stage: {L1.i: L2}}}>)
  return
}

// What each phase says of the levels, in full: lanes work on the second nest only.
// CHECK-LABEL: func.func @assigned
// CHECK: out_view(x_0 =
// CHECK: decompose = {assign: {L3.i: simd.x, simd.i: L3.x}, order: [L1.i, simd.i]}>)
// CHECK: out_view(y =
// CHECK: decompose = {assign: {L3.i: main.x, main.i: L3.x}, order: [L1.i, simd.i]}>)
func.func @assigned(%x: memref<32xf32>, %y: memref<32xf32>) {
  mdh.compute (i = 32)
    out_view(y = %y[i] : memref<32xf32>)
    md_hom((%v: f32) {
      %n = arith.addf %v, %v : f32
      mdh.yield %n : f32
    }, (cc))
    inp_view(x = %x[i] : memref<32xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}],
      decompose = {order: [L1.i, simd.i], assign: {L3.i: simd.x, simd.i: L3.x}},
      scalar = {assign: {L3.i: main.x, main.i: L3.x, simd.i: simd.x}},
      inputs = {x: {stage: {L1.i: L2}}}>)
  return
}

// A nest that stages nothing copies within main memory, in its own order.
// CHECK-LABEL: func.func @unstaged
// CHECK: out_view(x_0 =
// CHECK: decompose = {order: [L2.i, L2.k]}>)
// CHECK: out_view(y =
// CHECK: inp_view(x_0 =
// CHECK: decompose = {order: [L2.k, L2.i]}>)
func.func @unstaged(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}],
      decompose = {order: [L2.i, L2.k]}, scalar = {order: [L2.k, L2.i]}>)
  return
}

// -----

// One nest for all phases is what mdh-tile takes.
// Silent: its schedule asks for no other; phases that cannot be split are errors.
// CHECK-LABEL: func.func @one
// CHECK-NOT: memref.alloc
// CHECK: mdh.compute
// CHECK-NOT: mdh.compute
func.func @one(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}],
      decompose = {order: [L2.i, L2.k]}>)
  return
}

// -----

func.func @inside(%x: memref<8x20xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %m = memref.alloc() : memref<8xf32>
  // expected-error @+1 {{at 'L2.i' of 'z' (compute-at): its phases are separate loop nests: expected one order}}
  mdh.compute (i = 8, k = 20)
    out_view(m = %m[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x20xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}],
      decompose = {order: [L1.k, L1.i]}, recompose = {order: [L1.i, L1.k]},
      outputs = {m: {scalar: L2}}, compute_at = {consumer: z, level: L2.i}>)
  mdh.compute (i = 8)
    out_view(z = %z[i] : memref<8xf32>)
    md_hom(addf, (cc))
    inp_view(m = %m[i] : memref<8xf32>, y = %y[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}]>)
  memref.dealloc %m : memref<8xf32>
  return
}
