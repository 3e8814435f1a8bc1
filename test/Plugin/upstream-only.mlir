// Transformations of upstream that are made for operations of linalg, and refuse a computation before
// they ask it anything. docs/plugin.md says what does the same; all refusals are here, so that an
// upstream that begins to ask is noticed.
//
// RUN: not mlir-opt --load-dialect-plugin=%mdh_plugin %s --transform-interpreter --split-input-file 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not error:

!any = !transform.any_op

// CHECK: error: expected LinalgOp target
module attributes {transform.with_named_sequence} {
  func.func @pad(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p, %q, %r = transform.structured.pad %C {padding_values = [0.0 : f32, 0.0 : f32, 0.0 : f32], padding_dimensions = [0, 1, 2]} : (!any) -> (!any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: only IndexingMapOpInterface ops supported atm
module attributes {transform.with_named_sequence} {
  func.func @pad_tiling_interface(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p, %q = transform.structured.pad_tiling_interface %C to padding_sizes [20, 20, 20] {padding_values = [0.0 : f32, 0.0 : f32, 0.0 : f32]} : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: Unsupported Op, cannot vectorize
module attributes {transform.with_named_sequence} {
  func.func @vectorize(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    transform.structured.vectorize %C vector_sizes [4, 4, 4] : !any
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: transform applied to the wrong op kind
module attributes {transform.with_named_sequence} {
  func.func @interchange(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p = transform.structured.interchange %C iterator_interchange = [1, 0, 2] : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: requires target to map to exactly 1 LinalgOp (got 1)
module attributes {transform.with_named_sequence} {
  func.func @pack(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p = transform.structured.pack %C packed_sizes = [4, 4, 8] : (!any) -> (!transform.op<"linalg.generic">)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: transform applied to the wrong op kind
module attributes {transform.with_named_sequence} {
  func.func @split_reduction(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p:4 = transform.structured.split_reduction %C {split_factor = 4, insert_split_dimension = 2} : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: only applies to structured ops
module attributes {transform.with_named_sequence} {
  func.func @split(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p = transform.structured.split %C after 8 {dimension = 0} : !any
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: transform applied to the wrong op kind
module attributes {transform.with_named_sequence} {
  func.func @generalize(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p = transform.structured.generalize %C : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op

// CHECK: error: transform applied to the wrong op kind
module attributes {transform.with_named_sequence} {
  func.func @promote(%A: tensor<16x32xf32>, %B: tensor<32x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %C = mdh.compute (i = 16, j = 8, k = 32)
      out_view(C = %init[i, j] : tensor<16x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : tensor<16x32xf32>, B = %B[k, j] : tensor<32x8xf32>)
    return %C : tensor<16x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %C = transform.mdh.match C in %root : (!any) -> !any
    %p = transform.structured.promote %C : (!any) -> !any
    transform.yield
  }
}
