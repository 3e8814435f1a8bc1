// What upstream's scripts cannot do to a computation, and why.
//
// RUN: not mdh-opt %s --transform-interpreter --split-input-file 2>&1 | FileCheck %s

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @scheduled(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled: it has a schedule, which is that of the whole computation
    %y = mdh.compute (i = 8)
      out_view(y = %init[i] : tensor<8xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<8xf32>)
      schedule(#mdh.schedule<layers = [main {i: *}]>)
    return %y : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @threads(%x: tensor<8x4xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'k' by scf.forall: the tiles of a dimension that combines follow each other, and those of scf.forall run at once; expected scf.for, the size 0 there, or for 'pw' transform.structured.tile_reduction_using_forall
    %y = mdh.compute (i = 8, k = 4)
      out_view(y = %init[i] : tensor<8xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<8x4xf32>)
    return %y : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_forall %y tile_sizes [4, 2] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// The tiles of i reach over each other: each writes to both halves.
module attributes {transform.with_named_sequence} {
  func.func @overlapping(%x: tensor<8xf32>, %init: tensor<16xf32>) -> tensor<16xf32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'i' by scf.forall: what its tiles write of output 'y' may overlap, as no axis follows 'i' alone
    %y = mdh.compute (i = 8)
      out_view(y = %init[i][i + 8] : tensor<16xf32>)
      md_hom((%e: f32) { mdh.yield %e, %e : f32, f32 }, (cc))
      inp_view(x = %x[i] : tensor<8xf32>)
    return %y : tensor<16xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_forall %y tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @narrow(%x: tensor<8xf32>, %init: tensor<bf16>) -> tensor<bf16> {
    // CHECK: error: 'mdh.compute' op {{.*}}no output keeps component 0 as f32, and the tiles carry out what the outputs hold
    %y = mdh.compute (i = 8)
      out_view(y = %init[] : tensor<bf16>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : tensor<8xf32>)
    return %y : tensor<bf16>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @two_scans(%x: tensor<8x8xi32>, %init: tensor<8x8xi32>) -> tensor<8x8xi32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'i': dimension 'j' is scanned and cut too; expected the size 0 in all but one of 'i' and 'j'
    %y = mdh.compute (i = 8, j = 8)
      out_view(y = %init[i, j] : tensor<8x8xi32>)
      md_hom(id, (ps(addi), ps(addi)))
      inp_view(x = %x[i, j] : tensor<8x8xi32>)
    return %y : tensor<8x8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop:2 = transform.structured.tile_using_for %y tile_sizes [4, 4] : (!any) -> (!any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @both(%x: tensor<8x8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    // CHECK: error: 'mdh.compute' op {{.*}}'k' is combined by pw, and 'i' by ps; expected the size 0 in one of them
    %y = mdh.compute (i = 8, k = 8)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (ps(addi), pw(addi)))
      inp_view(x = %x[i, k] : tensor<8x8xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop:2 = transform.structured.tile_using_for %y tile_sizes [4, 4] : (!any) -> (!any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @again(%x: tensor<8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'i': it is scanned, and already receives a carry
    %y = mdh.compute (i = 8)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (ps(addi)))
      inp_view(x = %x[i] : tensor<8xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [4] : (!any) -> (!any, !any)
    %tiles, %loops = transform.structured.tile_using_for %tile tile_sizes [2] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @steps(%x: tensor<8xi32>, %init: tensor<8xi32>, %t: index) -> tensor<8xi32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'i': its step and width are known only when the program runs, expected numbers
    %y = mdh.compute (i = 8 step %t)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<8xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @tensors(%x: tensor<8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    %y = mdh.compute (i = 8)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<8xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    // CHECK: error: transform.structured.convert_to_loops found an mdh.compute on tensors, expected one on memrefs: its loops read and write memory: run the pass 'one-shot-bufferize' before
    %loop = transform.structured.convert_to_loops %y : (!any) -> !any
    transform.yield
  }
}

// -----

!any = !transform.any_op

// A tile of the result does not tell which points compute it.
module attributes {transform.with_named_sequence} {
  func.func @producers(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: remark: cannot be fused: axis 0 of 'y' is accessed at 'i floordiv 2 + 4 * (i mod 2)', and this is not one dimension and a constant
    %y = mdh.compute (i = 8)
      out_view(y = %init[i floordiv 2 + 4 * (i mod 2)] : tensor<8xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<8xf32>)
    %e = linalg.exp ins(%y : tensor<8xf32>) outs(%init : tensor<8xf32>) -> tensor<8xf32>
    return %e : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %e = transform.structured.match ops{["linalg.exp"]} in %root : (!any) -> !any
    %tile, %loop = transform.structured.fuse %e tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @scanned(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: remark: cannot be fused: axis 0 of 'y' is accessed at 'i', and dimension 'i' is combined over
    %y = mdh.compute (i = 8)
      out_view(y = %init[i] : tensor<8xf32>)
      md_hom(id, (ps(addf)))
      inp_view(x = %x[i] : tensor<8xf32>)
    %e = linalg.exp ins(%y : tensor<8xf32>) outs(%init : tensor<8xf32>) -> tensor<8xf32>
    return %e : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %e = transform.structured.match ops{["linalg.exp"]} in %root : (!any) -> !any
    %tile, %loop = transform.structured.fuse %e tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// What no point writes would be missing in the tile.
module attributes {transform.with_named_sequence} {
  func.func @borders(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: remark: cannot be fused: axis 0 of 'y' is accessed at 'i', and it is not known that dimension 'i' has all of the axis
    %y = mdh.compute (i = 1 to 7)
      out_view(y = %init[i] : tensor<8xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<8xf32>)
    %e = linalg.exp ins(%y : tensor<8xf32>) outs(%init : tensor<8xf32>) -> tensor<8xf32>
    return %e : tensor<8xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %e = transform.structured.match ops{["linalg.exp"]} in %root : (!any) -> !any
    %tile, %loop = transform.structured.fuse %e tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// Without a tile, nobody would store the neutral element.
module attributes {transform.with_named_sequence} {
  func.func @none(%x: tensor<4x0xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'k': it has no points, and without a tile nothing is stored; expected the size 0 there
    %y = mdh.compute (i = 4, k = 0)
      out_view(y = %init[i] : tensor<4xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, k] : tensor<4x0xf32>)
    return %y : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [0, 2] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// What the loop carries starts as the carry, but is something else from then on.
module attributes {transform.with_named_sequence} {
  func.func @own_loop(%x: tensor<8xi32>, %first: tensor<i32>) -> tensor<i32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %last = scf.for %t = %c0 to %c3 step %c1 iter_args(%so_far = %first) -> (tensor<i32>) {
      // CHECK: error: 'mdh.compute' op cannot be tiled in dimension 'k': it receives a carry that is not its own result so far; expected one that is
      %y = mdh.compute (k = 8)
        out_view(y = %so_far[] : tensor<i32>)
        md_hom(id, (pw(addi)))
        inp_view(x = %x[k] : tensor<8xi32>)
        carry k (c = %first[] : tensor<i32>)
      scf.yield %y : tensor<i32>
    }
    return %last : tensor<i32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [2] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// Each of its points is a result.
module attributes {transform.with_named_sequence} {
  func.func @scan_parts(%x: tensor<8x4xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: dimension 'i' is scanned, so that all its points are results; expected pw, or transform.structured.tile_using_for, whose tiles receive what those before come to
    %y = mdh.compute (i = 8)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (ps(addi)))
      inp_view(x = %x[i, 0] : tensor<8x4xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_forall %y by num_threads = [2] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// Every fourth element would be combined before its neighbours.
module attributes {transform.with_named_sequence} {
  func.func @reordered(%x: tensor<8xi32>, %init: tensor<i32>) -> tensor<i32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results that take the elements of dimension 'i' in turn: '@last' is not declared commutative; expected an operator that is, or transform.structured.tile_reduction_using_forall, whose parts follow each other
    %y = mdh.compute (i = 8)
      out_view(y = %init[] : tensor<i32>)
      md_hom(id, (pw(last)))
      inp_view(x = %x[i] : tensor<8xi32>)
      combine last associative (%a: i32, %b: i32) {
        %zero = arith.constant 0 : i32
        %is = arith.cmpi sgt, %b, %zero : i32
        %c = arith.select %is, %b, %a : i32
        mdh.yield %c : i32
      }
    return %y : tensor<i32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_for %y by tile_sizes = [4] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @gaps(%x: tensor<8xi32>, %init: tensor<i32>) -> tensor<i32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results that take the elements of dimension 'i' in turn: it has gaps; expected all indices, or transform.structured.tile_reduction_using_forall
    %y = mdh.compute (i = 8 step 2)
      out_view(y = %init[] : tensor<i32>)
      md_hom(id, (pw(addi)))
      inp_view(x = %x[i] : tensor<8xi32>)
    return %y : tensor<i32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_for %y by tile_sizes = [2] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @in_memory(%x: memref<8xi32>, %y: memref<i32>) {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: it writes to memrefs; expected tensors, as before bufferization
    mdh.compute (i = 8)
      out_view(y = %y[] : memref<i32>)
      md_hom(id, (pw(addi)))
      inp_view(x = %x[i] : memref<8xi32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_for %y by tile_sizes = [2] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @uncut(%x: tensor<8x4xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: no dimension is cut; expected a size other than 0 for one that combines
    %y = mdh.compute (i = 8, k = 4)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (cc, pw(addi)))
      inp_view(x = %x[i, k] : tensor<8x4xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_for %y by tile_sizes = [0, 0] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @concatenated(%x: tensor<8x4xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    // CHECK: error: transform.structured.tile_reduction_using_forall found 2 threads in dimension 'i', which is kept, expected 0: partial results are those of dimensions that combine
    %y = mdh.compute (i = 8, k = 4)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (cc, pw(addi)))
      inp_view(x = %x[i, k] : tensor<8x4xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_forall %y reduction_dims = [0] by num_threads = [2, 0] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @carried_out(%x: tensor<8xi32>, %init: tensor<i32>, %c: tensor<i32>, %o: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: it has several carries, or carries out what it has combined
    %y, %z = mdh.compute (i = 8)
      out_view(y = %init[] : tensor<i32>)
      md_hom(id, (pw(addi)))
      inp_view(x = %x[i] : tensor<8xi32>)
      carry i (c = %c[] : tensor<i32>) -> (o = %o[] : tensor<i32>)
    return %y, %z : tensor<i32>, tensor<i32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a:2, %b, %c, %d = transform.structured.tile_reduction_using_forall %y by num_threads = [2] : (!any) -> (!any, !any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @no_points(%x: tensor<8x4x4xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: dimension 'k' has no points; expected it as it is
    %y = mdh.compute (i = 8, k = 0, l = 4)
      out_view(y = %init[i] : tensor<8xi32>)
      md_hom(id, (cc, pw(addi), pw(addi)))
      inp_view(x = %x[i, k, l] : tensor<8x4x4xi32>)
    return %y : tensor<8xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_forall %y by num_threads = [0, 3, 2] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// Upstream counts parts in the order of dimensions.
module attributes {transform.with_named_sequence} {
  func.func @mixed_up(%x: tensor<6x8xi32>, %init: tensor<i32>) -> tensor<i32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: found reduction_dims = [1, 0], of which upstream mixes up the parts; expected [0, 1]
    %s = mdh.compute (i = 6, j = 8)
      out_view(s = %init[] : tensor<i32>)
      md_hom(id, (pw(addi), pw(addi)))
      inp_view(x = %x[i, j] : tensor<6x8xi32>)
    return %s : tensor<i32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %s = transform.mdh.match s in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_forall %s reduction_dims = [1, 0] by num_threads = [3, 2] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// Parts of i would share the partial results of j.
module attributes {transform.with_named_sequence} {
  func.func @shared(%x: tensor<6x8xi32>, %init: tensor<i32>) -> tensor<i32> {
    // CHECK: error: 'mdh.compute' op cannot be cut into partial results: dimension 'i' has a size, and is none of reduction_dims; expected it among these, or the size 0
    %s = mdh.compute (i = 6, j = 8)
      out_view(s = %init[] : tensor<i32>)
      md_hom(id, (pw(addi), pw(addi)))
      inp_view(x = %x[i, j] : tensor<6x8xi32>)
    return %s : tensor<i32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %s = transform.mdh.match s in %root : (!any) -> !any
    %a, %b, %c, %d = transform.structured.tile_reduction_using_forall %s reduction_dims = [1] by num_threads = [3, 2] : (!any) -> (!any, !any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// The borders of what fills the destination would be lost.
module attributes {transform.with_named_sequence} {
  func.func @kept(%y: tensor<12xf32>, %z: f32) -> tensor<12xf32> {
    %e = tensor.empty() : tensor<12xf32>
    %g = linalg.fill ins(%z : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
    %s = mdh.compute (i = 1 to 11)
      out_view(s = %g[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(y = %y[i - 1][i + 1] : tensor<12xf32>)
    return %s : tensor<12xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %s = transform.mdh.match s in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_forall %s tile_sizes [5] : (!any) -> (!any, !any)
    %g = transform.structured.match ops{["linalg.fill"]} in %root : (!any) -> !any
    // CHECK: error: transform.structured.fuse_into_containing_op found a result of which the tiles in the loop may leave a part, expected one of which each element is that of one tile: what no tile takes would be lost: leave what makes it before the loop
    %fused, %new = transform.structured.fuse_into_containing_op %g into %loop : (!any, !any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

// The loop over k carries the sums so far, to which the tiles add.
module attributes {transform.with_named_sequence} {
  func.func @again(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e = tensor.empty() : tensor<4x4xf32>
    // CHECK: remark: cannot be fused into scf.for: the loop carries its result, and would compute the same part of it again, over what is there then
    %d = mdh.compute (i = 4, j = 4)
      out_view(d = %e[i, j] : tensor<4x4xf32>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : tensor<4x4xf32>)
    %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %c : tensor<4x4xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %c = transform.structured.match ops{["linalg.matmul"]} in %root : (!any) -> !any
    %tile, %loops:2 = transform.structured.fuse %c tile_sizes [2, 0, 3] : (!any) -> (!any, !any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @no_results(%x: memref<8xi32>, %y: memref<8xi32>) {
    mdh.compute (i = 8)
      out_view(y = %y[i] : memref<8xi32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<8xi32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    // CHECK: error: transform.structured.fuse found an mdh.compute on memrefs, expected one on tensors: what makes a tensor is fused
    %tile, %loop = transform.structured.fuse %y tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op

module attributes {transform.with_named_sequence} {
  func.func @no_elements(%x: tensor<8x4xi32>, %init: tensor<8x0xi32>) -> tensor<8x0xi32> {
    // CHECK: error: 'mdh.compute' op cannot be tiled: output 'y' has no elements, of which upstream takes no slices; expected it as it is
    %y = mdh.compute (i = 8, j = 0)
      out_view(y = %init[i, j] : tensor<8x0xi32>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : tensor<8x4xi32>)
    return %y : tensor<8x0xi32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %y = transform.mdh.match y in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_for %y tile_sizes [4] : (!any) -> (!any, !any)
    transform.yield
  }
}

// -----

!any = !transform.any_op
#id = affine_map<(d0) -> (d0)>

// Upstream would give others what tiles read of the squares, from the loop.
module attributes {transform.with_named_sequence} {
  func.func @others(%y: tensor<12xf32>, %o: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
    %e = tensor.empty() : tensor<12xf32>
    %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<12xf32>) outs(%e : tensor<12xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.mulf %a, %a : f32
      linalg.yield %c : f32
    } -> tensor<12xf32>
    %s = mdh.compute (i = 1 to 11)
      out_view(s = %o[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(y = %g[i][i] : tensor<12xf32>)
    return %s, %g : tensor<12xf32>, tensor<12xf32>
  }
  transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
    %s = transform.mdh.match s in %root : (!any) -> !any
    %tile, %loop = transform.structured.tile_using_forall %s tile_sizes [5] : (!any) -> (!any, !any)
    %g = transform.structured.match ops{["linalg.generic"]} in %root : (!any) -> !any
    // CHECK: error: transform.structured.fuse_into_containing_op found a result of which the tiles in the loop may leave a part
    %fused, %new = transform.structured.fuse_into_containing_op %g into %loop : (!any, !any) -> (!any, !any)
    transform.yield
  }
}
