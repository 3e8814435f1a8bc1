// Schedules by the names of computations: of what there is not, what is gone, and what is not computed once.
//
// RUN: mdh-opt %s --split-input-file --mdh-share-subexpressions=asm=cpu --verify-diagnostics

// expected-error @below {{has a schedule by the name 'sqrt', which no computation has: expected one of s, y, or of what several of them evaluate: exp}}
func.func @unknown(%x: memref<64x80xf32>, %s: memref<64xf32>, %y: memref<64x80xf32>)
    attributes {mdh.schedules = {s = #mdh.schedule<>, sqrt = #mdh.schedule<>}} {
  mdh.compute (i = 64, j = 80)
    out_view(s = %s[i] : memref<64xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<64x80xf32>)
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

// -----

// A computation with a schedule of its own stays as that has it.
// expected-error @below {{has a schedule by the name 'exp', which no computation has: expected one of s, y; computations without schedules of their own have no costly expression in common}}
func.func @closed(%x: memref<64x80xf32>, %s: memref<64xf32>, %y: memref<64x80xf32>)
    attributes {mdh.schedules = {exp = #mdh.schedule<>}} {
  mdh.compute (i = 64, j = 80)
    out_view(s = %s[i] : memref<64xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<64x80xf32>)
    schedule(#mdh.schedule<layers = [L2 {i: *, j: *}]>)
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

// -----

func.func @gone(%x: memref<64x80xf32>, %s: memref<64xf32>, %y: memref<64x80xf32>)
    attributes {mdh.schedules = {exp = #mdh.schedule<>, s = #mdh.schedule<inputs = {x: {scalar: register}}>}} {
  // expected-error @below {{'mdh.compute' op 's' has a schedule that breaks 'unknown-buffer': found input 'x', expected one of exp, where 'exp' is computed once}}
  mdh.compute (i = 64, j = 80)
    out_view(s = %s[i] : memref<64xf32>)
    md_hom((%x_ij: f32) {
      %e = math.exp %x_ij : f32
      mdh.yield %e : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<64x80xf32>)
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

// -----

// expected-error @below {{has a schedule by the name 's', which 2 computations have: expected one}}
func.func @twice(%x: memref<8xf32>, %s: memref<8xf32>) attributes {mdh.schedules = {s = #mdh.schedule<>}} {
  mdh.compute (i = 8)
    out_view(s = %s[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  mdh.compute (i = 8)
    out_view(s = %s[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
