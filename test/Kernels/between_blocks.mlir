// What stands between loops over blocks is done by threads of one launch, which has no more of them than a block:
// copies of tiles of several shapes, and the fill of what sums are combined in.
//
// RUN: mdh run %s --entry fill --device sim --check=all --random 1 --in p=2 k=3 --report | FileCheck %s
// RUN: mdh run %s --entry copies --device sim --check=all --random 1 --report | FileCheck %s
// RUN: %interpreted mdh run %s --entry copies --device cuda --random 1 --check=all | FileCheck %s --check-prefix CUDA
// RUN: mdh run %s --entry reversed --device sim --check=all --random 1 --report | FileCheck %s
// CHECK: no mistakes found
// CHECK: check passed
// CUDA:  check passed
//
// All of these threads are those of the largest.
// RUN: mdh compile %s --entry fill --device sim --emit kernels | FileCheck %s --check-prefix FILL
// FILL: gpu.launch {{.*}} threads({{.*}}) in ({{.*}} = %c256, {{.*}} = %c1, {{.*}} = %c1)
// RUN: mdh compile %s --entry copies --device sim --emit kernels | FileCheck %s --check-prefix COPIES
// COPIES: gpu.launch {{.*}} threads({{.*}}) in ({{.*}} = %c36, {{.*}} = %c1, {{.*}} = %c1)

func.func @fill(%a: tensor<2x7x3x3xf32>, %b: tensor<3x5x1x3xf32>, %p: index, %k: index) -> tensor<2x2x2x3xf32> {
  %e = tensor.empty() : tensor<2x2x2x3xf32>
  %0 = mdh.compute (n = 2, p = %p, q = 2, k = %k, r = 5, s = 1, c = 3)
    out_view(C = %e[n, p, q, k] : tensor<2x2x2x3xf32>)
    md_hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf)))
    inp_view(A = %a[n, 2 * p + r, 2 * q + s, c] : tensor<2x7x3x3xf32>, B = %b[k, r, s, c] : tensor<3x5x1x3xf32>)
    schedule(#mdh.schedule<
      asm = cuda,
      layers = [device {c: *, r: *, s: *}, block {k: *, n: *, p: *, q: *}, shared {n: 2}, warp {},
                thread {c: 2, k: 2, r: 4}, register {p: 2}],
      inputs = {A: {stage: {block.q: shared}}},
      outputs = {C: {combine: {block.q: shared}}}>)
  return %0 : tensor<2x2x2x3xf32>
}

// The tiles have 2 x 18 and 3 x 4 rows.
func.func @copies(%a: tensor<2x11x3x3xf32>, %b: tensor<3x5x1x3xf32>) -> tensor<2x4x2x3xf32> {
  %e = tensor.empty() : tensor<2x4x2x3xf32>
  %0 = mdh.compute (n = 2, p = 4, q = 2, k = 3, r = 5, s = 1, c = 3)
    out_view(C = %e[n, p, q, k] : tensor<2x4x2x3xf32>)
    md_hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf)))
    inp_view(A = %a[n, 2 * p + r, 2 * q + s, c] : tensor<2x11x3x3xf32>, B = %b[k, r, s, c] : tensor<3x5x1x3xf32>)
    schedule(#mdh.schedule<
      asm = cuda,
      layers = [device {c: *, r: *, s: *}, block {k: *, n: *, p: *, q: *}, shared {n: 2}, warp {},
                thread {c: 2, k: 2, r: 4}, register {p: 2}],
      inputs = {A: {stage: {block.q: shared}}, B: {stage: {block.q: shared}}}>)
  return %0 : tensor<2x4x2x3xf32>
}

// The parts of inner blocks, under a condition of the outer ones, are none that threads share.
func.func @reversed(%A: tensor<2x2x3xf16>, %B: tensor<2x3x2xf16>) -> tensor<2x2x2xf32> {
  %e = tensor.empty() : tensor<2x2x2xf32>
  %0 = mdh.compute (b = 2, i = 2, j = 2, k = 3)
    out_view(C = %e[b, i, j] : tensor<2x2x2xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      mdh.yield %p : f32
    }, (cc, cc, cc, pw(addf)))
    inp_view(A = %A[b, i, k] : tensor<2x2x3xf16>, B = %B[b, k, j] : tensor<2x3x2xf16>)
    schedule(#mdh.schedule<
      asm = cuda,
      layers = [block {b: 2}],
      tile_order = {levels: [block.b, block.i], layout: "OrderBy(GenP([2,2],reverse)).GroupBy([2,2])"}>)
  return %0 : tensor<2x2x2xf32>
}
