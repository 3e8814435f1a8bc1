// What of warps and registers of threads is not followed is refused by name.
//
// RUN: not mdh run %s --entry scan --device sim --random 1 2>&1 | FileCheck %s --check-prefix SCAN
// RUN: not mdh run %s --entry some --device sim --random 1 2>&1 | FileCheck %s --check-prefix SOME
// RUN: not mdh run %s --entry outer --device sim --random 1 2>&1 | FileCheck %s --check-prefix OUTER
// RUN: not mdh run %s --entry many --device sim --random 1 2>&1 | FileCheck %s --check-prefix MANY
// RUN: not mdh run %s --entry warps --device sim --random 1 2>&1 | FileCheck %s --check-prefix WARPS
// RUN: not mdh compile %s --entry open --emit ptx 2>&1 | FileCheck %s --check-prefix OPEN
// RUN: not mdh run %s --entry steps --device sim --random 1 2>&1 | FileCheck %s --check-prefix STEPS

// SCAN: error: 'mdh.compute' op has a schedule whose level 'thread.i' combines prefix-sums in registers of threads: expected 'shared' or 'device' there
func.func @scan(%x: memref<1000xi32>, %y: memref<1000xi32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[i] : memref<1000xi32>)
    md_hom(id, (ps(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 32}, register {i: 4}],
      outputs = {y: {combine: {thread.i: register}}}>)
  return
}

// SOME: error: 'mdh.compute' op has a schedule whose level 'thread.i' combines some outputs in registers of threads and others elsewhere: expected one region for all outputs, whose tuples are combined together
func.func @some(%x: memref<1000xf32>, %y: memref<f32>, %z: memref<f32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[] : memref<f32>, z = %z[] : memref<f32>)
    md_hom((%a: f32) {
      mdh.yield %a, %a : f32, f32
    }, (pw(addf, maximumf)))
    inp_view(x = %x[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 32}, register {i: 4}],
      outputs = {y: {combine: {thread.i: register}}}>)
  return
}

// OUTER: error: 'mdh.compute' op has a schedule whose level 'thread.k' combines results in registers of threads outside of 'thread.i', whose parts each thread would need: expected it inside of all other levels of warps and threads
func.func @outer(%M: memref<40x64xf32>, %w: memref<40xf32>) {
  mdh.compute (i = 40, k = 64)
    out_view(w = %w[i] : memref<40xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<40x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 4, k: 8}, register {k: *}],
      decompose = {order: [block.i, thread.k, thread.i, register.k]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}

// MANY: error: 'mdh.compute' op has a schedule that breaks 'combine-region': output 'y' combines the 64 parts of 'thread.i' on 'thread' in 'register' among 64 of them, expected at most 32 there
func.func @many(%x: memref<1000xf32>, %y: memref<f32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 64}],
      outputs = {y: {combine: {thread.i: register}}}>)
  return
}

// WARPS: output 'y' combines the 4 parts of 'warp.i' on 'warp' in 'register', expected one of device, shared (R3), or 1 part
func.func @warps(%x: memref<1000xf32>, %y: memref<f32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, warp {i: 4}, thread {i: 32}],
      outputs = {y: {combine: {warp.i: register}}}>)
  return
}

// OPEN: error: 'mdh.compute' op has a schedule whose level 'thread.k' combines results in registers of threads that have a number of them which is not known, or are in no block: expected tiles of known sizes, in blocks
func.func @open(%M: memref<?x64xf32>, %w: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %n = memref.dim %w, %zero : memref<?xf32>
  mdh.compute (i = %n, k = 64)
    out_view(w = %w[i] : memref<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<?x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {k: *}, thread {k: 32}, shared {i: *}],
      decompose = {order: [block.k, thread.k, shared.i]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}

// STEPS: error: a computation has a schedule whose kernel combines results of threads in registers, of a dimension with steps and by an operator that divides: expected dense dimensions, or 'shared'
func.func @steps(%M: memref<30x64xi32>, %w: memref<30xi32>) {
  mdh.compute (i = 0 to 30 step 3, k = 64)
    out_view(w = %w[i] : memref<30xi32>)
    md_hom(id, (cc, pw(sum)))
    inp_view(M = %M[i, k] : memref<30x64xi32>)
    combine sum associative (%a: i32, %b: i32) {
      %same = arith.divsi %a, %b : i32
      %both = arith.addi %same, %b : i32
      mdh.yield %both : i32
    }
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {k: 32}, register {i: 4, k: *}],
      decompose = {order: [block.i, thread.k, register.k, register.i]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}
