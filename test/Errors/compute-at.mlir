// What is computed inside of another computation's loops must be whole there, needed there, and
// nowhere else.
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-tiles
// -----
// A consumer is behind what it consumes.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "z", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): found no computation 'z' behind it, in its block: 'y'}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// A level is a layer and a dimension.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L3.q}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): computation 'y' has no level 'L3.q'}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// A level of one part is no loop.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L3.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 'L3.i' of 'y' is no loop, since it has 1 part: expected one of 'core.i', 'L2.i', 'L2.k', 'L1.i'}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Registers hold no other computation.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: register.k}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 'register.k' of 'y' stays in registers: expected one of 'core.i', 'L2.i', 'L2.k', 'L1.i'}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Parts of k would compute the same.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.k}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): it would be recomputed in each of the 3 parts of 'L2.k', on which what they need of it does not depend: expected a level outside of 'L2.k'}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Cores have no cores.
#p = #mdh.schedule<asm = cpu, layers = [core {i: 3}, L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 'core.i' has 3 parts that are computed at the same time, inside of the 2 of 'core.i': expected 1}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Nests of its own are computations of their own.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], decompose = {order: [L1.k, L1.i]}, recompose = {order: [L1.i, L1.k]}, outputs = {t: {scalar: L2}}, compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{at 'L2.i' of 'y' (compute-at): its phases are separate loop nests: expected one order}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Its consumer has loops.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): its consumer has no schedule: expected one with that level}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
  return
}

// -----
// Its consumer reads it.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 'y' reads none of its results: expected that it does}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %x[i, 0] : memref<12x24xf32>)
    schedule(#c)
  return
}

// -----
// What it reads stays.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): what it reads is written before 'y' is computed}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12)
    out_view(other = %x[i, 3] : memref<12x24xf32>)
    md_hom(id, (cc))
    inp_view(z = %y[i, 0] : memref<12x24xf32>)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// What it writes is not read before.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 'memref.load' uses what it reads or writes before 'y' is computed}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  %c0 = arith.constant 0 : index
  %e = memref.load %t[%c0] : memref<12xf32>
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Nor does the consumer write what it reads.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): the consumer writes what it reads: expected other memory}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %x[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %y[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// A result is computed once.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>, %t: memref<12xf32>) {
  // expected-error @below {{(compute-at): its result is read by others too, or is one of the function: expected tiles that need each point of it once}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 10, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(t = %t[i][i + 2] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// A tile does not know where its buffer ends.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 't' is read with a value outside of it: expected none, a tile does not know where its buffer ends}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 10, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(t = %t[i][i + 4] pad(0.0 : f32) : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// What a consumer stages is there.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}, inputs = {t: {stage: {L2.i: L2}}}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 't' is staged from 'L2.i' on, before it is computed in 'L2.i': expected that inside of it}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// A prefix-sum builds on the parts before: all of it is needed.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): it would be recomputed in each of the 2 parts of 'core.i', on which what they need of it does not depend (they need all of its prefix-sum along 'i'): expected a level outside of 'core.i'}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (ps(addf), pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Who reads it is computed at the same level, or further in.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, k: *}, L1 {i: 2}, register {k: 8}],
  decompose = {order: [core.i, L2.i, L2.k, L1.i, register.k]}>
#q = #mdh.schedule<asm = cpu, layers = [L1 {i: *}], compute_at = {consumer: "y", level: core.i}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  %s = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 's' reads it in 'core.i', outside of 'L2.i': expected it there, or further out}}
  mdh.compute (i = 12, k = 24)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12)
    out_view(s = %s[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[i] : memref<12xf32>)
    schedule(#q)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(s = %s[i] : memref<12xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Tiles of one order do not follow each other: what is computed for several of them would be written at once.
#p = #mdh.schedule<asm = cpu, layers = [register {i: *}], compute_at = {consumer: "y", level: core.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2, k: 2}, L1 {i: *}, register {k: *}],
  tile_order = {levels: [core.i, core.k], layout: "RegP([2,2],[2,1])"}>
func.func @f(%x: memref<12x24xf32>, %y: memref<12x24xf32>) {
  %t = memref.alloc() : memref<12xf32>
  // expected-error @below {{'core.i' of 'y' is one of the levels of 'tile_order', whose tiles do not follow each other there: expected the innermost one of them}}
  mdh.compute (i = 12)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i, 0] : memref<12x24xf32>)
    schedule(#p)
  mdh.compute (i = 12, k = 24)
    out_view(y = %y[i, k] : memref<12x24xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(x = %x[i, k] : memref<12x24xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Who reads it is computed in loops of the same computation, not in those of another one there.
#p = #mdh.schedule<asm = cpu, layers = [L1 {i: *}], compute_at = {consumer: "y", level: L2.i}>
#q = #mdh.schedule<asm = cpu, layers = [L1 {i: *}], compute_at = {consumer: "r", level: L1.i}>
#r = #mdh.schedule<asm = cpu, layers = [L1 {i: *}], compute_at = {consumer: "y", level: L2.i}>
#c = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 4}]>
func.func @f(%x: memref<12xf32>, %y: memref<12xf32>) {
  %t = memref.alloc() : memref<12xf32>
  %s = memref.alloc() : memref<12xf32>
  %u = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 's' reads it in a loop of what is computed in 'y': expected it in one of 'y' itself}}
  mdh.compute (i = 12)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<12xf32>)
    schedule(#p)
  mdh.compute (i = 12)
    out_view(s = %s[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[11 - i] : memref<12xf32>)
    schedule(#q)
  mdh.compute (i = 12)
    out_view(r = %u[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(s = %s[i] : memref<12xf32>)
    schedule(#r)
  mdh.compute (i = 12)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(mulf, (cc))
    inp_view(r = %u[i] : memref<12xf32>, t = %t[i] : memref<12xf32>)
    schedule(#c)
  return
}

// -----
// Cores have no cores, in loops of loops either.
#p = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *}], compute_at = {consumer: "r", level: L2.i}>
#r = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 2}], compute_at = {consumer: "y", level: core.i}>
#c = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *}]>
func.func @f(%x: memref<12xf32>, %y: memref<12xf32>) {
  %t = memref.alloc() : memref<12xf32>
  %u = memref.alloc() : memref<12xf32>
  // expected-error @below {{(compute-at): 'core.i' has 2 parts that are computed at the same time, inside of the 2 of 'core.i': expected 1}}
  mdh.compute (i = 12)
    out_view(t = %t[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<12xf32>)
    schedule(#p)
  mdh.compute (i = 12)
    out_view(r = %u[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[i] : memref<12xf32>)
    schedule(#r)
  mdh.compute (i = 12)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(r = %u[i] : memref<12xf32>)
    schedule(#c)
  return
}
