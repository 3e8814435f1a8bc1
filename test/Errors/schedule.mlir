// Schedules that a computation or its machine does not allow: each constraint by its name, with
// what was found and what was expected.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// A machine that is not built in.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'asm': found 'gpu', expected one of cpu, cuda, opencl, multi_cuda, cluster_multi_cuda}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = gpu>)
  return
}

// -----
// Layers, dimensions, buffers and regions that are not there.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+4 {{'mdh.compute' op has a schedule that breaks 'unknown-layer': found layer 'grid', expected one of main, L3, core, L2, L1, register, simd ('cpu')}}
  // expected-error @+3 {{'mdh.compute' op has a schedule that breaks 'unknown-dimension': layer 'main': found dimension 'n', expected one of i, j, k}}
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'unknown-buffer': found input 'D', expected one of A, B}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'unknown-region': output 'C': found region 'core', expected one of main, L3, L2, L1, register}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {n: 2}, grid {i: 2}], inputs = {D: {scalar: L1}}, outputs = {C: {scalar: core}}>)
  return
}

// -----
// The wrong machine for the layers.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'unknown-layer': found layer 'core', expected one of device, block, shared, warp, thread, register, mma ('cuda')}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [core {i: 2}]>)
  return
}

// -----
// A layer twice.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'duplicate-layer': layer 'core' stands twice, expected 1 entry for each layer}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {}, core {i: 2}, core {j: 2}]>)
  return
}

// -----
// No parts; two derived counts.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'parts': layer 'core' has 0 parts in 'j', expected 1 or more}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'parts': dimension 'i' has 2 derived part counts ('*'), expected at most 1}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {i: *}, core {i: *, j: 0}]>)
  return
}

// -----
// Parts that do not cover.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'cover': dimension 'i' has 64 points, but its parts cover 8: leave the outermost count out or write '*'}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {i: 4}, core {i: 2}]>)
  return
}

// -----
// An order that leaves a level out.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'permutation': 'order' of decompose names 3 of 21 levels and lacks 'core.i', which has more than 1 part: an order is a permutation of the levels}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {}, core {i: 2}], decompose = {order: [main.i, main.j, main.k]}>)
  return
}

// -----
// An order without the level that takes what is left of a dimension.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'order' of decompose names 5 of 21 levels and lacks 'core.j', which has more than 1 part: an order is a permutation of the levels; 'core', the outermost layer that is written, has no count of 'j' and takes what the others leave, so that the layers are core {i: 2, j: 4}, L1 {i: 8, k: 64}, register {i: 4}, simd {j: 16}: write main {j: *} in front of it to leave that to a loop}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: 8, k: 64}, register {i: 4}, simd {j: 16}],
      decompose = {order: [core.i, L1.i, L1.k, register.i, simd.j]}>)
  return
}

// -----
// A constraint that what is left of dimensions breaks: an operator that is not commutative is combined in order.
func.func @f(%x: memref<64x?xf32>, %y: memref<64xf32>, %n: index) {
  // expected-error @+1 {{'@first' is not commutative, but re-composition has level 'L1.k' (layer 5) outside of 'core.k' (layer 3): order them as the layers are; 'core', the outermost layer that is written, has no count of 'i' and 'k' and takes what the others leave, so that the layers are core {i: 64, k: *}, L1 {k: 8}: write main {i: *, k: *} in front of it to leave that to a loop}}
  mdh.compute (i = 64, k = %n)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc, pw(first)))
    inp_view(x = %x[i, k] : memref<64x?xf32>)
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
    schedule(#mdh.schedule<asm = cpu, layers = [core {}, L1 {k: 8}],
      decompose = {order: [core.i, L1.k, core.k]}>)
  return
}

// -----
// Two levels for one.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'bijection': 'assign' of recompose gives 2 levels, 'main.i' and 'main.j', to ASM level 'main.y', expected 1: an assignment is a bijection, so give the others to the ASM levels that are free}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<recompose = {assign: {main.i: main.y}}>)
  return
}

// -----
// A layout of another rank.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'layout': input 'A': 'permuted' has 1 entries, expected one for each of 2 axes}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<inputs = {A: {layout: {main.i: permuted(1)}}}>)
  return
}

// -----
// The last first.
func.func @f(%x: memref<64xf32>, %y: memref<f32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'order-kept': '@first' is not commutative, but re-composition has level 'L1.k' (layer 5) outside of 'main.k' (layer 1): order them as the layers are}}
  mdh.compute (k = 64)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(first)))
    inp_view(x = %x[k] : memref<64xf32>)
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
    schedule(#mdh.schedule<layers = [main {}, L1 {k: 8}], decompose = {order: [L1.k, main.k]}>)
  return
}

// -----
// Too many threads in a block.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'part-limit': 2048 threads per block (the parts of warp times thread), expected at most 1024}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {}, thread {i: 32, j: 32, k: 2}]>)
  return
}

// -----
// Too many threads in a direction.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'extent': 2048 parts in dimension 'x' of 'thread', expected at most 1024}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'part-limit': 2048 threads per block (the parts of warp times thread), expected at most 1024}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {}, thread {i: 2048}]>)
  return
}

// -----
// More lanes than a register has.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'width': 32 parts of 4 bytes on 'simd', 128 bytes, expected at most 64}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {}, simd {j: 32}]>)
  return
}

// -----
// Cores combine where they do not meet.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'combine-region': output 'C' combines the 2 parts of 'core.k' on 'core' in 'L1', expected one of main, L3 (R3), or 1 part}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {}, core {k: 2}], outputs = {C: {combine: {core.k: L1}}}>)
  return
}

// -----
// More than the registers hold.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'capacity': region 'register' has to hold 16384 bytes ('C' 1 x [64, 64]: 16384), expected at most 2048}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<outputs = {C: {combine: {main.i: register}}}>)
  return
}

// -----
// What a core has left, another one reads.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'hand-over': input 'A' is left in 'L1', private to each 'core', which has core.i and core.j in de-composition and core.j and core.i in the scalar phase}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<layers = [main {}, core {i: 2, j: 2}], inputs = {A: {stage: {main.i: L1}}}, scalar = {assign: {core.i: core.y, core.j: core.x}}>)
  return
}

// -----
// What is known at run time only is checked then: a tile of a size of its own, of which the
// schedule has the inner layers only.
func.func @f(%A: memref<6x512xf32>, %B: memref<512x64xf32>, %C: memref<6x64xf32>,
             %m: index, %n: index, %p: index) {
  mdh.compute (i = %m, j = %n, k = %p)
    out_view(C = %C[i, j] : memref<6x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<6x512xf32>, B = %B[k, j] : memref<512x64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [register {i: 6, j: 4, k: 16}, simd {j: 16}]>)
  return
}

// -----
// More lanes than a register has, however many points there are.
func.func @f(%A: memref<2x0xi64>, %B: memref<0x2xi64>, %C: memref<2x2xi64>) {
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'width': 16 parts of 8 bytes on 'simd', 128 bytes, expected at most 64}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'width': 16 points of 8 bytes on 'simd', 128 bytes, expected at most 64}}
  mdh.compute (i = 2, j = 2, k = 0)
    out_view(C = %C[i, j] : memref<2x2xi64>)
    md_hom(muli, (cc, cc, pw(addi)))
    inp_view(A = %A[i, k] : memref<2x0xi64>, B = %B[k, j] : memref<0x2xi64>)
    schedule(#mdh.schedule<layers = [main {}, simd {j: 16, k: *}]>)
  return
}
