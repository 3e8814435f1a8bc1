// Tiles in shared memory that are copied asynchronously: in several stages, while others are computed on, or in one.
//
// RUN: mdh run %s --entry whole --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry edges --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry one --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry mixed --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry half --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry odd_half --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry alone --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry few --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry convolution --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry open --size i=45 --size j=31 --size k=77 --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry unknown --size i=17 j=10 --device sim --report --random 1 --check | FileCheck %s
// CHECK: no mistakes found
// CHECK: check passed
//
// Tiles of a size that is not known are in the device's memory, to which nothing is copied asynchronously.
// RUN: %interpreted mdh run %s --entry unknown --size i=17 j=10 --device cuda --random 1 --check | FileCheck %s --check-prefix UNKNOWN
// UNKNOWN: check passed
//
// The processor has no such copies: all is there at once.
// RUN: mdh run %s --entry edges --random 1 --check | FileCheck %s --check-prefix CPU
// CPU: check passed
//
// Two tiles are prefetched in the prologue of the loop, and in each iteration the one after the next.
// RUN: mdh-opt %s --mdh-tile | FileCheck %s --check-prefix TILES
// TILES-LABEL: func.func @whole(
// TILES-DAG:   %[[A:.*]] = memref.alloca() {{.*}} : memref<3x32x20xf32, #mdh.memory<"shared", block>>
// TILES-DAG:   %[[B:.*]] = memref.alloca() {{.*}} : memref<3x16x32xf32, #mdh.memory<"shared", block>>
// TILES-COUNT-2: threads(cooperative, asynchronous)
// TILES:       nvvm.cp.async.commit.group
// TILES-COUNT-2: threads(cooperative, asynchronous)
// TILES:       nvvm.cp.async.commit.group
// TILES:       scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// TILES-NEXT:  nvvm.cp.async.wait.group 1
// TILES:       arith.remui
// TILES:       scf.if
// TILES-COUNT-2: threads(cooperative, asynchronous)
// TILES:       nvvm.cp.async.commit.group
// TILES:       arith.remui
// TILES-NOT:   nvvm.cp.async
// TILES-LABEL: func.func @edges(
//
// Behind the wait the threads wait for each other, and nowhere else in the loop. Rows are copied 16 bytes at a time.
// RUN: mdh compile %s --entry whole --emit ptx --chip sm_80 | FileCheck %s --check-prefix PTX
// PTX:         .visible .entry whole_0(
// PTX-NOT:     .local
// PTX:         cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16;
// PTX:         cp.async.commit_group;
// PTX:         cp.async.commit_group;
// PTX:         cp.async.wait_group 1;
// PTX-NEXT:    bar.sync
// PTX:         cp.async.cg.shared.global
// PTX:         cp.async.commit_group;
// PTX-NOT:     bar.sync
// PTX:         ret;
//
// Rows of 77 numbers do not begin at multiples of 16 bytes. Of what is not there, nothing is read.
// RUN: mdh compile %s --entry edges --emit ptx --chip sm_80 | FileCheck %s --check-prefix EDGES
// EDGES:       .visible .entry edges_0(
// EDGES:       cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 4, %r{{[0-9]+}};
// EDGES:       cp.async.wait_group 0;
//
// Four bytes are two numbers; where rows have an odd number of them, they go through registers, unless they are whole
// and so lie together.
// RUN: mdh compile %s --entry half --emit ptx --chip sm_80 | FileCheck %s --check-prefix HALF
// HALF:        .visible .entry half_0(
// HALF:        cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 4, %r{{[0-9]+}};
// RUN: mdh compile %s --entry odd_half --emit ptx --chip sm_80 2>&1 | FileCheck %s --check-prefix ODD
// ODD:         cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16;
// ODD:         ld.global.b16
// ODD:         st.shared.b16
// ODD:         cp.async.wait_group 1;
// ODD-NOT:     cp.async.ca
func.func @whole(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 4}, thread {i: 8, j: 8}, register {i: 4, j: 4, k: 4}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j, register.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, layout: {shared.k: padded(0, 4)}, stages: 3}, B: {stage: {shared.k: shared}, stages: 3}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
func.func @edges(%A: memref<45x77xf32>, %B: memref<77x31xf32>, %C: memref<45x31xf32>) {
  mdh.compute (i = 45, j = 31, k = 77)
    out_view(C = %C[i, j] : memref<45x31xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x77xf32>, B = %B[k, j] : memref<77x31xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 4}, thread {i: 8, j: 8}, register {i: 4, j: 4, k: 4}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j, register.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, layout: {shared.k: padded(0, 4)}, stages: 2}, B: {stage: {shared.k: shared}, stages: 2}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
// One stage, one not staged asynchronously.
func.func @one(%A: memref<45x76xf32>, %B: memref<76x31xf32>, %C: memref<45x31xf32>) {
  mdh.compute (i = 45, j = 31, k = 76)
    out_view(C = %C[i, j] : memref<45x31xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x76xf32>, B = %B[k, j] : memref<76x31xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 4}, thread {i: 8, j: 8}, register {i: 4, j: 4, k: 4}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j, register.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 1}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
// Mixed: A in four stages, B at once.
func.func @mixed(%A: memref<45x76xf32>, %B: memref<76x31xf32>, %C: memref<45x31xf32>) {
  mdh.compute (i = 45, j = 31, k = 76)
    out_view(C = %C[i, j] : memref<45x31xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x76xf32>, B = %B[k, j] : memref<76x31xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 4}, thread {i: 8, j: 8}, register {i: 4, j: 4, k: 4}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j, register.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 4}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
func.func @half(%A: memref<45x78xbf16>, %B: memref<78x32xbf16>, %C: memref<45x32xf32>) {
  mdh.compute (i = 45, j = 32, k = 78)
    out_view(C = %C[i, j] : memref<45x32xf32>)
    md_hom((%a: bf16, %b: bf16) {
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x78xbf16>, B = %B[k, j] : memref<78x32xbf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, warp {i: 2, j: 2}, shared {k: 2}, thread {i: 8, j: 4}, register {j: 2}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, warp.i, warp.j, thread.i, thread.j, device.k, shared.k, register.j, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 3}, B: {stage: {shared.k: shared}, stages: 3}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
func.func @odd_half(%A: memref<45x77xbf16>, %B: memref<77x31xbf16>, %C: memref<45x31xf32>) {
  mdh.compute (i = 45, j = 31, k = 77)
    out_view(C = %C[i, j] : memref<45x31xf32>)
    md_hom((%a: bf16, %b: bf16) {
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<45x77xbf16>, B = %B[k, j] : memref<77x31xbf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, warp {i: 2, j: 2}, shared {k: 2}, thread {i: 8, j: 4}, register {j: 2}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, warp.i, warp.j, thread.i, thread.j, device.k, shared.k, register.j, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 3}, B: {stage: {shared.k: shared}, stages: 3}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// A window moves along both dimensions of the image; the loop around the copy goes through channels.
func.func @convolution(%x: memref<6x17x21xf32>, %w: memref<9x6x3x3xf32>, %y: memref<9x15x19xf32>) {
  mdh.compute (f = 9, i = 15, j = 19, c = 6, r = 3, s = 3)
    out_view(y = %y[f, i, j] : memref<9x15x19xf32>)
    md_hom(mulf, (cc, cc, cc, pw(addf), pw(addf), pw(addf)))
    inp_view(x = %x[c, i + r, j + s] : memref<6x17x21xf32>, w = %w[f, c, r, s] : memref<9x6x3x3xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {c: *}, block {f: *, i: *, j: *}, shared {c: 2, r: 3, s: 3}, thread {f: 2, i: 4, j: 8}, register {f: 2}],
      decompose = {order: [block.f, block.i, block.j, thread.f, thread.i, thread.j, device.c, shared.c, shared.r, shared.s, register.f],
        assign: {thread.f: thread.z, thread.i: thread.y, thread.j: thread.x}},
      inputs = {x: {stage: {shared.c: shared}, stages: 2}, w: {stage: {shared.c: shared}, stages: 2}},
      outputs = {y: {combine: {device.c: register}}}>)
  return
}

func.func @open(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?x?xf32>
  %p = memref.dim %A, %c1 : memref<?x?xf32>
  %m = memref.dim %B, %c1 : memref<?x?xf32>
  mdh.compute (i = %n, j = %m, k = %p)
    out_view(C = %C[i, j] : memref<?x?xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf32>, B = %B[k, j] : memref<?x?xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 8}, thread {i: 8, j: 8}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 4}, B: {stage: {shared.k: shared}, layout: {shared.k: permuted(2, 1)}, stages: 4}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// Without a block, the copy is a kernel of its own.
func.func @alone(%x: memref<5x7xf32>, %y: memref<5xf32>) {
  mdh.compute (i = 5, j = 7)
    out_view(y = %y[i] : memref<5xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<5x7xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {i: *}, shared {j: *}], inputs = {x: {stage: {shared.j: shared}, stages: 2}}>)
  return
}

// Fewer tiles than there is room for.
func.func @few(%x: memref<4x9xf32>, %y: memref<2x2xf32>) {
  mdh.compute (i = 2, j = 2)
    out_view(y = %y[i, j] : memref<2x2xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i - 1, 2 * j][i + 1, 2 * j + 5] origin(-1, 0) : memref<4x9xf32>)
    schedule(#mdh.schedule<asm = cuda, inputs = {x: {stage: {device.j: shared}, stages: 4}}>)
  return
}

func.func @unknown(%x: memref<?x?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = memref.dim %x, %c0 : memref<?x?xf64>
  %j = memref.dim %x, %c1 : memref<?x?xf64>
  mdh.compute (i = %i, j = %j)
    out_view(y = %y[i] : memref<?xf64>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<?x?xf64>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {j: *}, block {i: *}, thread {i: 32}],
      decompose = {order: [block.i, thread.i, device.j]},
      inputs = {x: {stage: {thread.i: shared}, stages: 1}},
      outputs = {y: {combine: {device.j: register}}}>)
  return
}
