// Padded inputs in shared memory: what is beyond them is there as what is in them.
//
// RUN: mdh run %s --check=all --entry near --device sim | FileCheck %s
// RUN: %interpreted mdh run %s --check=all --entry near --device cuda | FileCheck %s
// RUN: mdh run %s --check=all --entry image --device sim --range=0.5..1.5 | FileCheck %s
// RUN: %interpreted mdh run %s --check=all --entry image --device cuda --range=0.5..1.5 | FileCheck %s
// RUN: mdh run %s --check=all --entry transposed --device sim | FileCheck %s
// RUN: mdh run %s --check=all --entry product --device sim --range=0.5..1.5 | FileCheck %s
// RUN: %interpreted mdh run %s --check=all --entry product --device cuda --range=0.5..1.5 | FileCheck %s
// RUN: mdh run %s --check=all --entry zeros --device sim --range=0.5..1.5 | FileCheck %s
// RUN: %interpreted mdh run %s --check=all --entry zeros --device cuda --range=0.5..1.5 | FileCheck %s
// RUN: mdh run %s --check=all --entry ones --device sim --range=0.5..1.5 | FileCheck %s
// CHECK: check passed: [[N:[0-9]+]] of [[N]] elements compared

// A thread copies without a condition where all that it copies is there, and computes without any.
// RUN: mdh compile %s --entry near --device cuda --emit ptx --chip sm_90 | FileCheck %s --check-prefix NEAR
// NEAR: {{[[:space:]]+ld[.]global[.]b32[^;]+;}}{{[[:space:]]+ld[.]global[.]b32[^;]+;}}{{[[:space:]]+ld[.]global[.]b32[^;]+;}}{{[[:space:]]+ld[.]global[.]b32[^;]+;}}
// NEAR:     st.shared
// NEAR:     bar.sync
// NEAR-NOT: ld.global
// NEAR:     {{[[:space:]]+ld[.]shared[.]b32[^;]+;}}{{[[:space:]]+ld[.]shared[.]b32[^;]+;}}{{[[:space:]]+ld[.]shared[.]b32[^;]+;}}{{[[:space:]]+ld[.]shared[.]b32[^;]+;}}
// NEAR-NOT: ld.global
// NEAR:     st.global.b32

// Zeros are what asynchronous copies fill up with; other numbers go through registers.
// RUN: mdh compile %s --entry zeros --device cuda --emit ptx --chip sm_90 | FileCheck %s --check-prefix ZEROS
// ZEROS: cp.async.ca.shared.global [%{{.*}}], [%{{.*}}], 4, %r{{[0-9]+}};
// ZEROS-NOT: st.shared
// RUN: mdh compile %s --entry ones --device cuda --emit ptx --chip sm_90 | FileCheck %s --check-prefix ONES
// ONES: st.shared

func.func @near(%x: tensor<70x90xf32>) -> tensor<70x90xf32> {
  %y = tensor.empty() : tensor<70x90xf32>
  %z = mdh.compute (i = 70, j = 90)
    out_view(y = %y[i, j] : tensor<70x90xf32>)
    md_hom((%a: f32, %b: f32, %c: f32, %d: f32) {
      %0 = arith.addf %a, %b : f32
      %1 = arith.mulf %0, %c : f32
      %2 = arith.subf %1, %d : f32
      mdh.yield %2 : f32
    }, (cc, cc))
    inp_view(x = %x[i - 1, j][i + 1, j][i, j - 1][i, j + 1] pad(-1.0 : f32) : tensor<70x90xf32>)
  return %z : tensor<70x90xf32>
}

func.func @image(%x: tensor<2x19x21x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<2x19x21x16xf32> {
  %y = tensor.empty() : tensor<2x19x21x16xf32>
  %z = mdh.compute (n = 2, p = 19, q = 21, k = 16, r = 3, s = 3, c = 8)
    out_view(y = %y[n, p, q, k] : tensor<2x19x21x16xf32>)
    md_hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf)))
    inp_view(x = %x[n, p + r - 1, q + s - 1, c] pad(0.0 : f32) : tensor<2x19x21x8xf32>,
             w = %w[r, s, c, k] : tensor<3x3x8x16xf32>)
  return %z : tensor<2x19x21x16xf32>
}

func.func @transposed(%x: tensor<60x75xf32>) -> tensor<80x64xf32> {
  %y = tensor.empty() : tensor<80x64xf32>
  %z = mdh.compute (i = 64, j = 80)
    out_view(y = %y[j, i] : tensor<80x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i - 2, j - 3] pad(5.0 : f32) : tensor<60x75xf32>)
  return %z : tensor<80x64xf32>
}

func.func @product(%A: tensor<60x70xf32>, %B: tensor<72x64xf32>) -> tensor<64x64xf32> {
  %c = tensor.empty() : tensor<64x64xf32>
  %C = mdh.compute (i = 64, j = 64, k = 72)
    out_view(C = %c[i, j] : tensor<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i - 2, k - 1] pad(2.0 : f32) : tensor<60x70xf32>, B = %B[k, j] : tensor<72x64xf32>)
  return %C : tensor<64x64xf32>
}

func.func @zeros(%A: memref<45x75xf32>, %B: memref<77x31xf32>, %C: memref<47x31xf32>) {
  mdh.compute (i = 47, j = 31, k = 77)
    out_view(C = %C[i, j] : memref<47x31xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i - 1, k - 1] pad(0.0 : f32) : memref<45x75xf32>, B = %B[k, j] : memref<77x31xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 4}, thread {i: 8, j: 8}, register {i: 4, j: 4, k: 4}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j, register.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 2}, B: {stage: {shared.k: shared}, stages: 2}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

func.func @ones(%A: memref<45x75xf32>, %B: memref<77x31xf32>, %C: memref<47x31xf32>) {
  mdh.compute (i = 47, j = 31, k = 77)
    out_view(C = %C[i, j] : memref<47x31xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i - 1, k - 1] pad(1.0 : f32) : memref<45x75xf32>, B = %B[k, j] : memref<77x31xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 4}, thread {i: 8, j: 8}, register {i: 4, j: 4, k: 4}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j, register.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}, stages: 2}, B: {stage: {shared.k: shared}, stages: 2}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
