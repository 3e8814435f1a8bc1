// Chains are computed tile by tile of the last one where that saves traffic.
//
// RUN: mdh-opt %s --split-input-file --mdh-schedule='asm=cpu' | FileCheck %s

// Each row of x is read once for all three.
// CHECK-LABEL: func.func @rows
// CHECK:         out_view(m =
// CHECK:         compute_at = {consumer: y, level: L2.i}
// CHECK:         out_view(s =
// CHECK:         compute_at = {consumer: y, level: L2.i}
// CHECK:         out_view(y =
// CHECK:         order: [core.i, L2.i, L2.j
// CHECK-NOT:     compute_at
func.func @rows(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  %m = memref.alloc() : memref<4096xf32>
  %s = memref.alloc() : memref<4096xf32>
  mdh.compute (i = 4096, j = 4096)
    out_view(m = %m[i] : memref<4096xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  mdh.compute (i = 4096, j = 4096)
    out_view(s = %s[i] : memref<4096xf32>)
    md_hom(subf, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, m = %m[i] : memref<4096xf32>)
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i, j] : memref<4096x4096xf32>)
    md_hom((%x_ij: f32, %m_i: f32, %s_i: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %r = arith.divf %less, %s_i : f32
      mdh.yield %r : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, m = %m[i] : memref<4096xf32>, s = %s[i] : memref<4096xf32>)
  memref.dealloc %m : memref<4096xf32>
  memref.dealloc %s : memref<4096xf32>
  return
}

// -----

// Rows of a stencil of a stencil: 16, of which few are computed twice.
// CHECK-LABEL: func.func @stencils
// CHECK:         out_view(t =
// CHECK:         compute_at = {consumer: y, level: [[LEVEL:L3.i]]}
// CHECK:         out_view(y =
// CHECK:         L2 {i: 4, j: *}, register {i: 4}
// CHECK:         order: [core.i, [[LEVEL]], L2.i
func.func @stencils(%x: memref<2052x1024xf32>, %y: memref<2048x1024xf32>) {
  %t = memref.alloc() : memref<2050x1024xf32>
  mdh.compute (i = 2050, j = 1024)
    out_view(t = %t[i, j] : memref<2050x1024xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      mdh.yield %abc : f32
    }, (cc, cc))
    inp_view(x = %x[i, j][i + 1, j][i + 2, j] : memref<2052x1024xf32>)
  mdh.compute (i = 2048, j = 1024)
    out_view(y = %y[i, j] : memref<2048x1024xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      mdh.yield %abc : f32
    }, (cc, cc))
    inp_view(t = %t[i, j][i + 1, j][i + 2, j] : memref<2050x1024xf32>)
  memref.dealloc %t : memref<2050x1024xf32>
  return
}

// -----

// What stays in the caches is computed before, and so is what others need in part.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     compute_at
func.func @small(%x: memref<8x20xf32>, %y: memref<8x20xf32>) {
  %m = memref.alloc() : memref<8xf32>
  mdh.compute (i = 8, j = 20)
    out_view(m = %m[i] : memref<8xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(x = %x[i, j] : memref<8x20xf32>)
  mdh.compute (i = 8, j = 20)
    out_view(y = %y[i, j] : memref<8x20xf32>)
    md_hom(subf, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x20xf32>, m = %m[i] : memref<8xf32>)
  memref.dealloc %m : memref<8xf32>
  return
}

// -----

// All sums of a prefix are needed for the first one already.
// CHECK-LABEL: func.func @scans
// CHECK-NOT:     compute_at
func.func @scans(%x: memref<4096x4096xf32>, %y: memref<f32>) {
  %t = memref.alloc() : memref<4096xf32>
  mdh.compute (i = 4096, j = 4096)
    out_view(t = %t[i] : memref<4096xf32>)
    md_hom(id, (ps(addf), pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  mdh.compute (i = 4096)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(maximumf)))
    inp_view(t = %t[i] : memref<4096xf32>)
  memref.dealloc %t : memref<4096xf32>
  return
}
