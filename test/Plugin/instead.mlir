// Upstream's transformations that are for operations of linalg alone, or for memory, refuse an mdh.compute in our
// words, also those that upstream refuses without saying whom, or does nothing for: with what does the same here.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s --split-input-file \
// RUN:   --transform-interpreter --verify-diagnostics -o /dev/null
// RUN: mdh-opt %s --split-input-file --transform-interpreter --verify-diagnostics -o /dev/null

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.pad found an mdh.compute, expected an operation of linalg: rests of tiles are masked here and nothing is padded: use 'transform.mdh.tails %c {i: mask}'}}
    %p, %q, %r = transform.structured.pad %c pad_to_multiple_of [16] {padding_values = [0.0 : f32, 0.0 : f32, 0.0 : f32], padding_dimensions = [0]} : (!any) -> (!any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.pad_tiling_interface found an mdh.compute, expected an operation of linalg: rests of tiles are masked here}}
    %p, %q = transform.structured.pad_tiling_interface %c to padding_sizes [16] {padding_values = [0.0 : f32, 0.0 : f32, 0.0 : f32]} : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.vectorize found an mdh.compute, expected an operation of linalg: vectors are a level of a schedule: use 'transform.mdh.parts %c simd {j: 16}'}}
    transform.structured.vectorize %c : !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.interchange found an mdh.compute, expected an operation of linalg: the order of loops is a part of a schedule: use 'transform.mdh.order %c decompose [..]', or 'interchange' of 'transform.structured.tile_using_for'}}
    %p = transform.structured.interchange %c iterator_interchange = [1, 0, 2] : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.pack found an mdh.compute, expected an operation of linalg: a part of an operand is laid out anew where it is staged: use 'transform.mdh.stage %c B at L3.i in L3 layout blocked(512, 64)'}}
    %p = transform.structured.pack %c packed_sizes = [8, 8, 0] : (!any) -> !transform.op<"linalg.generic">
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.pack_greedily found an mdh.compute, expected an operation of linalg: a part of an operand is laid out anew}}
    %p = transform.structured.pack_greedily %c matmul_packed_sizes = [8, 16, 32] matmul_inner_dims_order = [0, 1, 2] : (!any) -> !transform.op<"linalg.generic">
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.promote found an mdh.compute, expected an operation of linalg: what is copied to nearer memory is a part of a schedule: use 'transform.mdh.stage %c B at L2.i in L2'}}
    %p = transform.structured.promote %c {operands_to_promote = [0]} : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.split_reduction found an mdh.compute, expected an operation of linalg: partial results are cut by tiling: use 'transform.structured.tile_reduction_using_for' or 'transform.structured.tile_reduction_using_forall', or 'transform.mdh.parts %c core {k: 4}' with 'transform.mdh.combine'}}
    %p:4 = transform.structured.split_reduction %c {split_factor = 4, insert_split_dimension = 2} : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.split found an mdh.compute, expected an operation of linalg: rests of tiles are loops of their own by a schedule: use 'transform.mdh.tails %c {i: peel}'}}
    %p = transform.structured.split %c after 16 {dimension = 0} : !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.scalarize found an mdh.compute, expected an operation of linalg: tiles of one point are as good: use 'transform.structured.tile_using_for' with sizes of 1}}
    %p = transform.structured.scalarize %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.convert_to_loops found an mdh.compute on tensors, expected one on memrefs: its loops read and write memory: run the pass 'one-shot-bufferize' before, or use 'transform.bufferization.one_shot_bufferize'; loops on tensors are those of 'transform.structured.tile_using_for' with sizes of 1}}
    %p = transform.structured.convert_to_loops %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.multitile_sizes found an mdh.compute, expected an operation of linalg: a computation takes the sizes of its tiles, and what to do with rests, from a schedule: use 'transform.mdh.parts %c main {i: 64}' and 'transform.mdh.tails %c {i: peel}'}}
    %p, %q, %r = transform.structured.multitile_sizes %c {dimension = 0, target_size = 3} : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.continuous_tile_sizes found an mdh.compute, expected an operation of linalg: a computation takes the sizes of its tiles}}
    %p, %q = transform.structured.continuous_tile_sizes %c {dimension = 0, target_size = 9} : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.generalize found an mdh.compute, expected an operation of linalg: a computation has this one form, and needs no other}}
    %p = transform.structured.generalize %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.decompose found an mdh.compute, expected an operation of linalg: a computation has this one form, and needs no other}}
    %p = transform.structured.decompose %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.specialize found an mdh.compute, expected an operation of linalg: a computation has this one form, and needs no other}}
    %p = transform.structured.specialize %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.flatten_elementwise found an mdh.compute, expected an operation of linalg: a computation has this one form, and needs no other}}
    %p = transform.structured.flatten_elementwise %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.rewrite_in_destination_passing_style found an mdh.compute, expected an operation of linalg: a computation names its destinations: leave it out}}
    %p = transform.structured.rewrite_in_destination_passing_style %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.transpose_matmul found an mdh.compute, expected an operation of linalg: a part of an operand is laid out anew where it is staged}}
    %p = transform.structured.transpose_matmul %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.transpose_conv2d found an mdh.compute, expected an operation of linalg: a part of an operand is laid out anew where it is staged}}
    %p = transform.structured.transpose_conv2d %c : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.convert_conv2d_to_img2col found an mdh.compute, expected an operation of linalg: a part of an operand is laid out anew where it is staged}}
    %p:2 = transform.structured.convert_conv2d_to_img2col %c : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

// A script may go on without, and operations of linalg are upstream's as before.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %c: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<32x64xf32>) {
    %d = mdh.compute (i = 64, j = 32)
      out_view(d = %c[i, j] : tensor<64x32xf32>)
      md_hom(mulf, (cc, cc))
      inp_view(a = %a[i, j] : tensor<64x32xf32>, b = %b[i, j] : tensor<64x32xf32>)
    %e = tensor.empty() : tensor<32x64xf32>
    // expected-remark @+1 {{this is generic now}}
    %t = linalg.transpose ins(%d : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
    return %d, %t : tensor<64x32xf32>, tensor<32x64xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    transform.sequence %c : !any failures(suppress) {
    ^bb0(%own: !any):
      %p = transform.structured.interchange %own iterator_interchange = [1, 0] : (!any) -> !any
    }
    %t = transform.structured.match ops{["linalg.transpose"]} in %root : (!any) -> !any
    %g = transform.structured.generalize %t : (!any) -> !any
    transform.debug.emit_remark_at %g, "this is generic now" : !any
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.tile_reduction_using_for found 16 as the size of tiles in dimension 'j', which is kept, expected 0: partial results are those of dimensions that combine: cut what is kept by 'transform.structured.tile_using_for' or 'transform.structured.tile_using_forall' first}}
    %p:4 = transform.structured.tile_reduction_using_for %c by tile_sizes = [0, 16, 8] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
    // expected-note @+1 {{when applied to this op}}
    %d = mdh.compute (i = 64, j = 48, k = 32)
      out_view(d = %c[i, j] : tensor<64x48xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
    return %d : tensor<64x48xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.tile_reduction_using_forall found 4 threads in dimension 'i', which is kept, expected 0}}
    %p:4 = transform.structured.tile_reduction_using_forall %c by num_threads = [4, 0, 8] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

// The loop over 'k' carries what the fill makes: the loop around it carries it in.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    // expected-note @+1 {{when applied to this op}}
    %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %d = mdh.compute (i = 64, k = 32)
      out_view(d = %c[i] : tensor<64xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k] : tensor<32xf32>)
    return %d : tensor<64xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!any) -> !any
    %tile, %loops:2 = transform.structured.tile_using_for %c tile_sizes [16, 8] : (!any) -> (!any, !any, !any)
    %fill = transform.structured.match ops{["linalg.fill"]} in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.fuse_into_containing_op found what makes the destination that the loop carries, expected what a tile in it reads by a slice: leave it before the loop, fuse it by 'transform.structured.fuse', or cut dimensions that are kept by 'transform.structured.tile_using_forall' first and fuse it into that loop}}
    %p:2 = transform.structured.fuse_into_containing_op %fill into %loops#1 : (!any, !any) -> (!any, !any)
    transform.yield
  }
}

// -----

// The loop over 'k', which may have no iteration, carries a start that is put into what the computation makes.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x?xf32>, %n: index) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-note @+1 {{when applied to this op}}
    %c = mdh.compute (i = 64)
      out_view(c = %e[i] : tensor<64xf32>)
      md_hom(id, (cc))
      inp_view(a = %a[i, i] : tensor<64x?xf32>)
    %d = mdh.compute (i = 64, k = %n)
      out_view(d = %c[i] : tensor<64xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x?xf32>)
    return %d : tensor<64xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %d = transform.mdh.match d in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %d tile_sizes [0, 8] : (!any) -> (!any, !any)
    %c = transform.mdh.match c in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.fuse_into_containing_op found what makes the destination that the loop carries}}
    %p:2 = transform.structured.fuse_into_containing_op %c into %loop : (!any, !any) -> (!any, !any)
    transform.yield
  }
}

// -----

// What the loop carries and a tile reads, too.
!any = !transform.any_op
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<64x32xf32>) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    // expected-note @+1 {{when applied to this op}}
    %c = mdh.compute (i = 64)
      out_view(c = %e[i] : tensor<64xf32>)
      md_hom(id, (cc))
      inp_view(a = %a[i, 0] : tensor<64x32xf32>)
    %d = mdh.compute (i = 64, k = 32)
      out_view(d = %c[i] : tensor<64xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(a = %a[i, k] : tensor<64x32xf32>, c = %c[k] : tensor<64xf32>)
    return %d : tensor<64xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %d = transform.mdh.match d in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %d tile_sizes [0, 8] : (!any) -> (!any, !any)
    %c = transform.mdh.match c in %root : (!any) -> !any
    // expected-error @+1 {{transform.structured.fuse_into_containing_op found what makes the destination that the loop carries}}
    %p:2 = transform.structured.fuse_into_containing_op %c into %loop : (!any, !any) -> (!any, !any)
    transform.yield
  }
}
