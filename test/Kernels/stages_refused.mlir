// What cannot be copied asynchronously is refused by name.
//
// RUN: not mdh run %s --entry product --device sim --random 1 2>&1 | FileCheck %s --check-prefix LOOP
// RUN: sed 's/thread.i: shared}, stages: 2/shared.k: shared}, stages: 99/' %s > %t.mlir
// RUN: not mdh run %t.mlir --entry product --device sim --random 1 2>&1 | FileCheck %s --check-prefix ROOM
// RUN: sed 's/stage: {thread.i: shared}, stages: 2/stages: 2/' %s > %t.mlir
// RUN: not mdh run %t.mlir --entry product --device sim --random 1 2>&1 | FileCheck %s --check-prefix NOWHERE
// RUN: not mdh compile %S/stages.mlir --entry whole --emit ptx --chip sm_75 2>&1 | FileCheck %s --check-prefix CHIP
// RUN: not mdh run %s --entry chain --device sim --random 1 2>&1 | FileCheck %s --check-prefix CHAIN

// LOOP: error: {{.*}}breaks 'stages': input 'A' has 2 stages and is staged at 'thread.i', directly inside of 'block.j', which is parallel: expected a loop directly outside whose parts follow each other, or 1 stage
// ROOM: error: {{.*}}breaks 'capacity': region 'shared' has to hold 50688 bytes ('A' 99 x [8, 16]: 50688), expected at most 49152
// NOWHERE: error: {{.*}}breaks 'stages': input 'A' has 2 stages, but no tile of 'A' is copied from 'device' to 'shared': expected a level from which it is staged there
// CHIP: error: a kernel has asynchronous copies (cp.async), which sm_75 has not: expected sm_80 or later
func.func @product(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 16}, thread {i: 8, j: 8}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k]},
      inputs = {A: {stage: {thread.i: shared}, stages: 2}}>)
  return
}

// CHAIN: error: {{.*}}has a schedule that computes it at {{.*}} (compute-at): 'x' is staged at 'thread.i' in 2 stages, but what it reads there is computed in the same iteration: expected 1 stage
func.func @chain(%A: memref<64x64xf32>, %B: memref<64xf32>, %C: memref<64xf32>) {
  %x = memref.alloc() : memref<64x64xf32>
  mdh.compute (i = 64, k = 64) out_view(x = %x[i, k] : memref<64x64xf32>) md_hom(mulf, (cc, cc))
    inp_view(a = %A[i, k] : memref<64x64xf32>, b = %A[i, k] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {i: *, k: *}],
      compute_at = {consumer: C, level: device.k}>)
  mdh.compute (i = 64, k = 64) out_view(C = %C[i] : memref<64xf32>) md_hom(mulf, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<64x64xf32>, B = %B[k] : memref<64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {k: *}, block {i: *}, shared {k: 16}, thread {i: 8}],
      decompose = {order: [block.i, device.k, thread.i, shared.k]},
      inputs = {x: {stage: {thread.i: shared}, stages: 2}}>)
  memref.dealloc %x : memref<64x64xf32>
  return
}
