// The tile of an input that is copied has no extent where the dimension has no points, whatever its step is.
//
// RUN: mdh run %s --device sim --check=all --random 1 2>&1 | FileCheck %s
// CHECK: check  passed: 2 of 2 elements compared

func.func @f(%a: tensor<2x1xf32>, %b: tensor<1xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %c = mdh.compute (i = 2, k = 0 step 2)
    out_view(c = %e[i] : tensor<2xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(a = %a[i, k] : tensor<2x1xf32>, b = %b[k] : tensor<1xf32>)
    schedule(#mdh.schedule<
      asm = cuda,
      layers = [device {k: *}, block {i: *}, shared {}, warp {}, thread {}, register {}],
      recompose = {order: [block.i, device.k]},
      inputs = {a: {stage: {device.k: shared}, stages: 1}}>)
  return %c : tensor<2xf32>
}
