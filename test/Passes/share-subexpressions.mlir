// What several computations evaluate is computed once, where that stays in tiles or caches.
//
// RUN: mdh-opt %s --split-input-file --mdh-share-subexpressions=asm=cpu --verify-diagnostics | FileCheck %s
// RUN: not mdh-opt %s --split-input-file --mdh-share-subexpressions="cores=none" 2>&1 \
// RUN:   | FileCheck %s --check-prefix OPTION
// OPTION: option 'cores' of mdh-share-subexpressions is 'none': expected a positive number

// The whole of what both evaluate, before the first of them, behind what it reads.
// CHECK-LABEL: func.func @softmax
// CHECK:       out_view(m =
// CHECK:       %[[E:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4096x4096xf32>
// CHECK-NEXT:  mdh.compute (i = 4096, j = 4096)
// CHECK-NEXT:    out_view(exp_1 = %[[E]][i, j] : memref<4096x4096xf32>)
// CHECK-NEXT:    md_hom((%[[X:.*]]: f32, %[[M:.*]]: f32) {
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[X]], %[[M]] : f32
// CHECK-NEXT:      %[[V:.*]] = math.exp %[[D]] : f32
// CHECK-NEXT:      mdh.yield %[[V]] : f32
// CHECK-NEXT:    }, (cc, cc))
// CHECK-NEXT:    inp_view(x = %{{.*}}[i, j] : memref<4096x4096xf32>, m = %{{.*}}[i] : memref<4096xf32>)
// CHECK-NEXT:  mdh.compute (i = 4096, j = 4096)
// CHECK-NEXT:    out_view(exp = %{{.*}}[i] : memref<4096xf32>)
// CHECK-NEXT:    md_hom(id, (cc, pw(addf)))
// CHECK-NEXT:    inp_view(exp_1 = %[[E]][i, j] : memref<4096x4096xf32>)
// CHECK-NEXT:  mdh.compute (k = 4096, l = 4096)
// CHECK-NEXT:    out_view(y =
// CHECK-NEXT:    md_hom(
// CHECK-NOT:       math.exp
// CHECK:         inp_view(s = %{{.*}}[k] : memref<4096xf32>, exp_1 = %[[E]][k, l] : memref<4096x4096xf32>)
// CHECK-NEXT:  memref.dealloc %[[E]]
func.func @softmax(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  %m = memref.alloc() : memref<4096xf32>
  %s = memref.alloc() : memref<4096xf32>
  mdh.compute (i = 4096, j = 4096)
    out_view(m = %m[i] : memref<4096xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  mdh.compute (i = 4096, j = 4096)
    out_view(exp = %s[i] : memref<4096xf32>)
    md_hom((%x_ij: f32, %m_i: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %e = math.exp %less : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, m = %m[i] : memref<4096xf32>)
  mdh.compute (k = 4096, l = 4096)
    out_view(y = %y[k, l] : memref<4096x4096xf32>)
    md_hom((%s_i: f32, %m_i: f32, %x_ij: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %e = math.exp %less : f32
      %q = arith.divf %e, %s_i : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(s = %s[k] : memref<4096xf32>, m = %m[k] : memref<4096xf32>, x = %x[k, l] : memref<4096x4096xf32>)
  memref.dealloc %m : memref<4096xf32>
  memref.dealloc %s : memref<4096xf32>
  return
}

// -----

// Small enough for the caches, and too small to be fused; dimensions in another order.
// CHECK-LABEL: func.func @small
// CHECK:       out_view(sqrt = %[[E:.*]][i, j] : memref<64x80xf32>)
// CHECK:       out_view(s =
// CHECK-NEXT:    md_hom(id, (cc, pw(addf)))
// CHECK-NEXT:    inp_view(sqrt = %[[E]][i, j] : memref<64x80xf32>)
// CHECK:       out_view(y =
// CHECK-NEXT:    md_hom(mulf, (cc, cc))
// CHECK-NEXT:    inp_view(s = %{{.*}}[l] : memref<64xf32>, sqrt = %[[E]][l, k] : memref<64x80xf32>)
func.func @small(%x: memref<64x80xf32>, %y: memref<80x64xf32>) {
  %s = memref.alloc() : memref<64xf32>
  mdh.compute (i = 64, j = 80)
    out_view(s = %s[i] : memref<64xf32>)
    md_hom((%x_ij: f32) {
      %e = math.sqrt %x_ij : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<64x80xf32>)
  mdh.compute (k = 80, l = 64)
    out_view(y = %y[k, l] : memref<80x64xf32>)
    md_hom((%s_i: f32, %x_ij: f32) {
      %e = math.sqrt %x_ij : f32
      %q = arith.mulf %s_i, %e : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(s = %s[l] : memref<64xf32>, x = %x[l, k] : memref<64x80xf32>)
  memref.dealloc %s : memref<64xf32>
  return
}

// -----

// All of a large buffer would be written and read: sums of columns need all rows.
// CHECK-LABEL: func.func @columns
// CHECK-COUNT-2: math.exp
func.func @columns(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  %s = memref.alloc() : memref<4096xf32>
  // expected-remark @below {{'exp' is evaluated again in 'y': as a computation of its own it would stay neither in tiles of its readers nor in the caches}}
  mdh.compute (i = 4096, j = 4096)
    out_view(s = %s[j] : memref<4096xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (pw(addf), cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i, j] : memref<4096x4096xf32>)
    md_hom((%x_ij: f32, %s_j: f32) {
      %e = math.exp %x_ij : f32
      %q = arith.divf %e, %s_j : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, s = %s[j] : memref<4096xf32>)
  memref.dealloc %s : memref<4096xf32>
  return
}

// -----

// Little arithmetic is evaluated again, and other code is another value.
// CHECK-LABEL: func.func @cheap
// CHECK-NOT:   out_view(mulf
// CHECK-NOT:   out_view(exp
// CHECK:       return
func.func @cheap(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  %s = memref.alloc() : memref<4096xf32>
  mdh.compute (i = 4096, j = 4096)
    out_view(s = %s[i] : memref<4096xf32>)
    md_hom((%x_ij: f32) {
      %a = arith.addf %x_ij, %x_ij : f32
      %b = arith.mulf %a, %x_ij : f32
      %c = math.exp %b fastmath<fast> : f32
      mdh.yield %c : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i, j] : memref<4096x4096xf32>)
    md_hom((%x_ij: f32, %s_i: f32) {
      %a = arith.addf %x_ij, %x_ij : f32
      %b = arith.mulf %a, %x_ij : f32
      %c = math.exp %b : f32
      %q = arith.divf %c, %s_i : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, s = %s[i] : memref<4096xf32>)
  memref.dealloc %s : memref<4096xf32>
  return
}

// -----

// A schedule goes by the computation as it is.
// CHECK-LABEL: func.func @scheduled
// CHECK-COUNT-2: math.exp
func.func @scheduled(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
  %s = memref.alloc() : memref<4096xf32>
  mdh.compute (i = 4096, j = 4096)
    out_view(s = %s[i] : memref<4096xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: *}]>)
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i, j] : memref<4096x4096xf32>)
    md_hom((%x_ij: f32, %s_i: f32) {
      %e = math.exp %x_ij : f32
      %q = arith.divf %e, %s_i : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, s = %s[i] : memref<4096xf32>)
  memref.dealloc %s : memref<4096xf32>
  return
}

// -----

// What it is made of is not the same any more.
// CHECK-LABEL: func.func @written
// CHECK-COUNT-2: math.exp
func.func @written(%x: memref<64x80xf32>, %s: memref<64xf32>, %y: memref<64x80xf32>) {
  mdh.compute (i = 64, j = 80)
    out_view(s = %s[i] : memref<64xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<64x80xf32>)
  memref.copy %y, %x : memref<64x80xf32> to memref<64x80xf32>
  mdh.compute (i = 64, j = 80)
    out_view(y = %y[i, j] : memref<64x80xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      %q = arith.addf %e, %e : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x80xf32>)
  return
}

// Refuses nothing: what is not shared is evaluated where it is needed.

// -----

// Who has a schedule for it by name has it made, also where it stays in no tile; the others get theirs by the same
// names, and go by what they read then.
// CHECK-LABEL: func.func @named
// CHECK-NOT:   mdh.schedules
// CHECK:       out_view(exp = %[[E:.*]][i, j] : memref<4096x4096xf32>)
// CHECK:         math.exp
// CHECK:       schedule(#mdh.schedule<
// CHECK-NEXT:    layers = [core {i: 2}, L2 {i: *, j: *}]>)
// CHECK-NEXT:  mdh.compute
// CHECK-NEXT:    out_view(s =
// CHECK-NEXT:    md_hom(id, (pw(addf), cc))
// CHECK-NEXT:    inp_view(exp = %[[E]][i, j] : memref<4096x4096xf32>)
// CHECK-NEXT:    schedule(#mdh.schedule<
// CHECK-NEXT:      layers = [core {j: 2}, L2 {i: *, j: *}],
// CHECK-NEXT:      inputs = {exp: {scalar: register}}>)
// CHECK:         out_view(y =
// CHECK-NOT:     math.exp
// CHECK-NOT:     schedule
// CHECK:       return
func.func @named(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>)
    attributes {mdh.schedules = {
      exp = #mdh.schedule<layers = [core {i: 2}, L2 {i: *, j: *}]>,
      s = #mdh.schedule<layers = [core {j: 2}, L2 {i: *, j: *}], inputs = {exp: {scalar: register}}>}} {
  %s = memref.alloc() : memref<4096xf32>
  mdh.compute (i = 4096, j = 4096)
    out_view(s = %s[j] : memref<4096xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (pw(addf), cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i, j] : memref<4096x4096xf32>)
    md_hom((%x_ij: f32, %s_j: f32) {
      %e = math.exp %x_ij : f32
      %q = arith.divf %e, %s_j : f32
      mdh.yield %q : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, s = %s[j] : memref<4096xf32>)
  memref.dealloc %s : memref<4096xf32>
  return
}

// -----

// The first of two values of one operation keeps its name where only the second is made.
// CHECK-LABEL: func.func @second
// CHECK:       out_view(sqrt_1 =
// CHECK:         math.exp
// CHECK:         math.sqrt
// CHECK:       out_view(s =
// CHECK:         math.sqrt
// CHECK-NOT:     math.exp
// CHECK:       out_view(y =
// CHECK:         math.sqrt
// CHECK-NOT:     math.exp
// CHECK:       return
func.func @second(%x: memref<64x80xf32>, %z: memref<64x80xf32>, %s: memref<64x80xf32>, %y: memref<64x80xf32>)
    attributes {mdh.schedules = {
      sqrt_1 = #mdh.schedule<layers = [L2 {i: *, j: *}]>,
      s = #mdh.schedule<layers = [L2 {i: *, j: *}]>,
      y = #mdh.schedule<layers = [L2 {i: *, j: *}]>}} {
  mdh.compute (i = 64, j = 80)
    out_view(s = %s[i, j] : memref<64x80xf32>)
    md_hom((%x_ij: f32, %z_ij: f32) {
      %e = math.exp %z_ij : f32
      %r = math.sqrt %e : f32
      %q = math.sqrt %x_ij : f32
      %t = arith.addf %r, %q : f32
      mdh.yield %t : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x80xf32>, z = %z[i, j] : memref<64x80xf32>)
  mdh.compute (i = 64, j = 80)
    out_view(y = %y[i, j] : memref<64x80xf32>)
    md_hom((%x_ij: f32, %z_ij: f32) {
      %e = math.exp %z_ij : f32
      %r = math.sqrt %e : f32
      %q = math.sqrt %x_ij : f32
      %t = arith.mulf %r, %q : f32
      mdh.yield %t : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x80xf32>, z = %z[i, j] : memref<64x80xf32>)
  return
}
