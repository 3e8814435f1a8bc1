// Each hom's schedule is that of its computation.
//
// RUN: mdh-opt %s --mdh-form-compute | FileCheck %s

// CHECK-LABEL: @largest_sum
// CHECK:      md_hom(id, (cc, pw(addf)))
// CHECK-NEXT: inp_view(x = {{.*}})
// CHECK-NEXT: schedule(#mdh.schedule<
// CHECK-NEXT:   layers = [core {i: 8}]>)
// CHECK:      md_hom(id, (pw(maximumf), cc))
// CHECK-NEXT: inp_view(hom0_0 = {{.*}})
// CHECK-NEXT: schedule(#mdh.schedule<
// CHECK-NEXT:   inputs = {hom0_0: {stage: {L1.i: L1}}}>)
func.func @largest_sum(%x: tensor<8x5xf32>, %init: tensor<f32>) -> tensor<f32> {
  %points = mdh.inp_view (i = 8, k = 5) (%x[i, k] : tensor<8x5xf32>) : !mdh.mda<8x5, f32>
  %sums = mdh.hom(id, (cc, pw(addf))) %points schedule(#mdh.schedule<layers = [core {i: 8}]>)
        : !mdh.mda<8x5, f32> -> !mdh.mda<8x1, f32>
  %largest = mdh.hom(id, (pw(maximumf), cc)) %sums
             schedule(#mdh.schedule<inputs = {hom0_0: {stage: {L1.i: L1}}}>)
           : !mdh.mda<8x1, f32> -> !mdh.mda<1x1, f32>
  %y = mdh.out_view (i, k) %largest -> (y = %init[] : tensor<f32>) : !mdh.mda<1x1, f32>
  return %y : tensor<f32>
}
