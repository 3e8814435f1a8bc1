// Memory for tiles that no machine has is missed before anything is written there.
//
// RUN: not mdh run %s --random 1 2>&1 | FileCheck %s
// CHECK: error: not enough memory: {{.*}} bytes) are needed, {{.*}} are available

func.func @sums(%A: memref<64x64xf64>, %y: memref<64xf64>) {
  mdh.compute (i = 64, k = 64)
    out_view(y = %y[i] : memref<64xf64>)
    md_hom(id, (cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf64>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}],
      inputs = {A: {stage: {L2.i: L2}, layout: {L2.i: padded(0, 549755813888)}}}>)
  return
}
