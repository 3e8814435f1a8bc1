// Warp-level MMA of sums of products.
//
// RUN: mdh run %s --entry whole --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry edges --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry transposed --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry batches --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry open --size i=45 --size j=31 --size k=77 --device sim --report --random 1 --check | FileCheck %s
// CHECK: no mistakes found
// CHECK: check passed
//
// What is printed at a stage can be compiled again: what is on the device stays there, and loops of threads
// are such.
// RUN: mdh run %s --entry whole --device sim --random 1 --out C=%t.whole.npy
// RUN: mdh compile %s --entry whole --device sim --emit tiles > %t.tiles.mlir
// RUN: mdh run %t.tiles.mlir --device sim --random 1 --out arg2=%t.tiles.npy
// RUN: cmp %t.whole.npy %t.tiles.npy
// RUN: mdh run %s --entry edges --device sim --random 1 --out C=%t.edges.npy
// RUN: mdh compile %s --entry edges --device sim --emit tiles > %t.staged.mlir
// RUN: mdh run %t.staged.mlir --device sim --random 1 --out arg2=%t.staged.npy
// RUN: cmp %t.edges.npy %t.staged.npy
// RUN: mdh compile %s --entry edges --device sim --emit kernels > %t.kernels.mlir
// RUN: mdh run %t.kernels.mlir --device sim --random 1 --out arg2=%t.kernels.npy
// RUN: cmp %t.edges.npy %t.kernels.npy
//
// RUN: mdh compile %s --entry whole --emit ptx | FileCheck %s --check-prefix PTX
// Sums are in registers: four products of matrices for each 16 of 64 terms, in loops that are unrolled.
// PTX:         .visible .entry whole_0(
// PTX-NOT:     .local
// PTX-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT:     mma.sync
func.func @whole(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf16>, B = %B[k, j] : memref<64x64xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, warp {i: 2}, thread {i: 8, j: 4}, register {i: 2, j: 2}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, warp.i, thread.i, thread.j, device.k, register.i, register.j, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// Tiles in shared memory; blocks, warps, threads and terms that are not full.
func.func @edges(%A: memref<45x77xbf16>, %B: memref<77x31xbf16>, %C: memref<45x31xf32>) {
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
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// The other dimension's threads are neighbours, and the factors stand the other way round.
func.func @transposed(%A: memref<33x50xf16>, %B: memref<40x50xf16>, %C: memref<40x33xf32>) {
  mdh.compute (i = 33, j = 40, k = 50)
    out_view(C = %C[j, i] : memref<40x33xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %y, %x : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<33x50xf16>, B = %B[j, k] : memref<40x50xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *, j: *}, thread {i: 4, j: 8}, register {k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, mma.i, mma.j, mma.k]}>)
  return
}

// Two dimensions are combined, and a third one is kept that moves both factors.
func.func @batches(%A: memref<3x20x5x17xf16>, %B: memref<3x5x17x9xf16>, %C: memref<3x20x9xf32>) {
  mdh.compute (b = 3, i = 20, j = 9, l = 5, k = 17)
    out_view(C = %C[b, i, j] : memref<3x20x9xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, cc, pw(addf), pw(addf)))
    inp_view(A = %A[b, i, l, k] : memref<3x20x5x17xf16>, B = %B[b, l, k, j] : memref<3x5x17x9xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {b: *, i: *, j: *}, thread {i: 8, j: 4}, register {l: *, k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.b, block.i, block.j, thread.i, thread.j, register.l, register.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x, thread.b: thread.z}}>)
  return
}

func.func @open(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %A, %c0 : memref<?x?xf16>
  %p = memref.dim %A, %c1 : memref<?x?xf16>
  %m = memref.dim %B, %c1 : memref<?x?xf16>
  mdh.compute (i = %n, j = %m, k = %p)
    out_view(C = %C[i, j] : memref<?x?xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf16>, B = %B[k, j] : memref<?x?xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, warp {i: 2}, shared {k: 2}, thread {i: 8, j: 4}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, warp.i, thread.i, thread.j, device.k, shared.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
