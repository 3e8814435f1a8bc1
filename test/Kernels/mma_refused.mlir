// Products of matrices that are not followed are refused by name.
//
// RUN: not mdh run %s --entry sums --device sim --random 1 2>&1 | FileCheck %s --check-prefix SUMS
// RUN: not mdh run %s --entry alone --device sim --random 1 2>&1 | FileCheck %s --check-prefix ALONE
// RUN: not mdh compile %S/mma.mlir --entry whole --emit ptx --chip sm_75 2>&1 | FileCheck %s --check-prefix CHIP

// CHIP: error: a kernel has products of matrices (mma.sync.m16n8k16), which sm_75 has not: expected sm_80 or later

// SUMS: error: 'mdh.compute' op has a schedule with 'mma', but adds up something else than products of two numbers of f16 or bf16 that are widened to f32, for which there is no instruction: expected arith.mulf of two arith.extf
func.func @sums(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.subf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf16>, B = %B[k, j] : memref<64x64xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *, j: *}, thread {i: 8, j: 4}, register {k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}}>)
  return
}

// ALONE: error: 'mdh.compute' op has a schedule with 'mma', but without the threads of a warp around it: expected 'thread' with 8 parts of one dimension and 4 of another
func.func @alone(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
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
      layers = [block {i: *, j: *}, register {k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, register.k, mma.i, mma.j, mma.k]}>)
  return
}
