// A producer behind tensor.pad: upstream fuses what a tile reads directly, which is the padding. Raised and
// simplified before, the padding is a part of the view that reads it, so that the producer is fused.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s -o %t.mlir \
// RUN:   --pass-pipeline='builtin.module(mdh-raise-linalg,canonicalize,transform-interpreter,canonicalize,cse)'
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: %python %S/../Structured/Inputs/same.py %s %t.mlir
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %t.mlir --lower-affine -o %t.lowered.mlir
// RUN: mdh run %t.lowered.mlir --check
// RUN: not mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s --transform-interpreter 2>&1 \
// RUN:   | FileCheck %s --check-prefix BEHIND
// BEHIND: error: could not find next producer to fuse into container
// REQUIRES: numpy

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @padded(
  // CHECK-NOT:   tensor.pad
  // CHECK:       scf.forall
  // CHECK:         mdh.compute
  // CHECK-NEXT:      out_view(squares
  // CHECK:         mdh.compute
  // CHECK-NEXT:      out_view(sums
  // CHECK:           inp_view(p = %{{.*}}[i - 1][i + 1] origin(%{{.*}}) pad(0.000000e+00 : f32)
  // CHECK:         scf.forall.in_parallel
  func.func @padded(%x: tensor<16xf32>) -> tensor<16xf32> {
    %zero = arith.constant 0.0 : f32
    %init = tensor.empty() : tensor<16xf32>
    %e = mdh.compute (i = 16)
      out_view(squares = %init[i] : tensor<16xf32>)
      md_hom((%a: f32) {
        %s = arith.mulf %a, %a : f32
        mdh.yield %s : f32
      }, (cc))
      inp_view(x = %x[i] : tensor<16xf32>)
    %p = tensor.pad %e low[1] high[1] {
    ^bb0(%n: index):
      tensor.yield %zero : f32
    } : tensor<16xf32> to tensor<18xf32>
    %c = mdh.compute (i = 16)
      out_view(sums = %init[i] : tensor<16xf32>)
      md_hom(addf, (cc))
      inp_view(p = %p[i] [i + 2] : tensor<18xf32>)
    return %c : tensor<16xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.mdh.match sums in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_forall %c tile_sizes [4] : (!any) -> (!any, !any)
    %s = transform.mdh.match squares in %root : (!any) -> !any
    %fused, %new = transform.structured.fuse_into_containing_op %s into %loop : (!any, !any) -> (!any, !any)
    transform.yield
  }
}
