// Half of a warp has no rows of the result: all of it computes the product, outside of branches.
//
// RUN: mdh compile %s --emit ptx | FileCheck %s
// RUN: mdh run %s --device sim --random 1 --check | FileCheck %s --check-prefix RIGHT
// RUN: %interpreted mdh run %s --device cuda --random 1 --check | FileCheck %s --check-prefix RIGHT
// RIGHT: check passed: 512 of 512 elements compared
//
// CHECK-COUNT-4: mma.sync
// CHECK-NOT:     mma.sync
func.func @partial(%A: tensor<8x16xf16>, %B: tensor<16x64xf16>) -> tensor<8x64xf32> {
  %C = tensor.empty() : tensor<8x64xf32>
  %r = mdh.compute (i = 8, j = 64, k = 16)
    out_view(C = %C[i, j] : tensor<8x64xf32>)
    md_hom((%x: f16, %y: f16) {
      %a = arith.extf %x : f16 to f32
      %b = arith.extf %y : f16 to f32
      %c = arith.mulf %a, %b : f32
      mdh.yield %c : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<8x16xf16>, B = %B[k, j] : tensor<16x64xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, warp {i: 1, j: 2}, shared {k: 1}, thread {i: 8, j: 4},
                register {i: 2, j: 2}, mma {i: 2, j: 2, k: 16}],
      decompose = {
        order: [block.i, block.j, warp.i, warp.j, thread.i, thread.j, device.k, shared.k,
                 register.i, register.j, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}
      },
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return %r : tensor<8x64xf32>
}
