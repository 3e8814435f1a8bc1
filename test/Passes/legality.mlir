// What of a schedule is not followed is refused by name.
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-tiles
// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, register {i: 2, k: *}], decompose = {order: [L2.i, register.k, register.i]}, inputs = {x: {stage: {register.k: register}, scalar: L1}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{whose scalar function reads 'x' (S3, S4) in 'L1' (row_major): expected 'register', where its tiles are}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {i: 2, k: 4}], decompose = {order: [L2.k, L2.i, L1.i, L1.k]}, inputs = {x: {scalar: register, scalar_layout: permuted(2, 1)}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{reads 'x' (S3, S4) in 'register' (permuted(2, 1)): expected no layout of registers}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, register {i: 2, k: *}], decompose = {order: [L2.i, register.k, register.i]}, outputs = {y: {combine: {register.k: register}, scalar: L1}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{whose scalar function writes 'y' (S5, S6) in 'L1' (row_major): expected 'register', where its tiles are}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {i: 2, k: 4}], decompose = {order: [L2.k, L2.i, L1.i, L1.k]}, tails = {k: mask}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{masks the tail of 'k': expected a dimension that is not combined and has parts in registers or lanes, or 'peel'}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, register {i: 2, k: 4}], decompose = {order: [L2.i, L2.k, register.i, register.k]}, inputs = {x: {stage: {register.k: L1}}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{stages 'x' in 'L1' (row_major) from 'register.k' on: expected 'register'}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, L1 {i: 2, k: 4}], decompose = {order: [L2.k, L2.i, L1.i, L1.k]}, inputs = {x: {stage: {L2.i: register, L1.k: L1}}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{stages 'x' in 'L1' (row_major) from 'L1.k' on: expected it to stay in registers}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}, core {k: 2}, L1 {k: 4}], decompose = {order: [L2.i, L2.k, core.k, L1.k]}, recompose = {order: [L1.k, core.k, L2.i, L2.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{(R1): expected one deferred level outside of registers}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}

// -----
#s = #mdh.schedule<asm = cpu, layers = [core {i: *}, L2 {k: *}, L1 {i: 2, k: 4}], decompose = {order: [core.i, L2.k, L1.i, L1.k]}, inputs = {x: {stage: {core.i: register}, layout: {core.i: padded(1, 1)}}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12xf32>) {
  // expected-error @below {{expected no layout of registers}}
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#s)
  return
}
