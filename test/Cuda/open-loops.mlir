// Barriers in a loop whose bound is open, and in which threads count on for as long as they have points: the counters of both
// loops are one register of PTX, and the branch to the barrier is the same in all threads nevertheless.
//
// RUN: %interpreted env MDH_PTX_CHIP=80 mdh run %s --device cuda --size b=3 k=40 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: %interpreted env MDH_PTX_CHIP=86 mdh run %s --device cuda --size b=3 k=40 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: %interpreted env MDH_PTX_CHIP=89 mdh run %s --device cuda --size b=3 k=40 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: %interpreted env MDH_PTX_CHIP=90 mdh run %s --device cuda --size b=3 k=40 --random 0 --check=all 2>&1 | FileCheck %s
// CHECK: check  passed: 744 of 744 elements compared

func.func @f(%A: memref<3x8x?xbf16>, %W: memref<3x?x31xbf16>, %C: memref<?x?x31xf16>, %nb: index, %nk: index) {
  mdh.compute (b = %nb, i = 8, j = 31, k = %nk)
    out_view(C = %C[b, i, j] : memref<?x?x31xf16>)
    md_hom((%x: bf16, %y: bf16) {
      %a = arith.extf %x : bf16 to f32
      %b = arith.extf %y : bf16 to f32
      %c = arith.mulf %a, %b : f32
      mdh.yield %c : f32
    }, (cc, cc, cc, pw(addf)))
    inp_view(A = %A[b, i, k] : memref<3x8x?xbf16>, W = %W[b, k, j] : memref<3x?x31xbf16>)
  return
}
