// One script for the stock mlir-opt with our library: schedules for computations, upstream's tiling
// for an operation of linalg, and our pass on the result.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s \
// RUN:   --transform-interpreter | FileCheck %s
// RUN: mdh-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @both(
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           linalg.add
// CHECK:       mdh.compute
// CHECK:         schedule(#mdh.schedule<
// CHECK-NEXT:      asm = cpu,
// CHECK-NEXT:      layers = [main {k: *}, L1 {i: 8}]>)

// The function that is lowered in the script, and whose inner loop upstream unrolls.
// CHECK-LABEL: func.func @lowered(
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK-COUNT-2:   memref.store
// CHECK-NOT:   mdh.compute
// CHECK:       transform.named_sequence
module attributes {transform.with_named_sequence} {
  func.func @both(%A: memref<64x64xf32>, %x: memref<64xf32>, %y: memref<64xf32>) {
    linalg.add ins(%A, %A : memref<64x64xf32>, memref<64x64xf32>) outs(%A : memref<64x64xf32>)
    mdh.compute (i = 64, k = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<64x64xf32>, x = %x[k] : memref<64xf32>)
    return
  }
  func.func @lowered(%x: memref<64xf32>, %y: memref<64xf32>) {
    mdh.compute (i = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<64xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %add = transform.structured.match ops{["linalg.add"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %add tile_sizes [8, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %all = transform.structured.match ops{["mdh.compute"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.mdh.asm %all cpu : !transform.any_op
    %c, %d = transform.split_handle %all
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %eight = transform.tune.knob<"rows"> = 8 from options = [4, 8] -> !transform.param<i64>
    transform.mdh.parts %c main {k: *} : !transform.any_op
    transform.mdh.parts %c L1 {i: %eight} : !transform.any_op, !transform.param<i64>
    transform.mdh.lower %c : !transform.any_op
    transform.mdh.parts %d main {i: 8} : !transform.any_op
    transform.mdh.parts %d L1 {i: *} : !transform.any_op
    transform.mdh.lower %d : !transform.any_op
    %f = transform.structured.match ops{["func.func"]} attributes{sym_name = "lowered"} in %root
      : (!transform.any_op) -> !transform.any_op
    %g = transform.apply_registered_pass "mdh-tile" to %f : (!transform.any_op) -> !transform.any_op
    %h = transform.apply_registered_pass "mdh-lower-to-loops" to %g
      : (!transform.any_op) -> !transform.any_op
    %points = transform.structured.match ops{["memref.store"]} in %h
      : (!transform.any_op) -> !transform.any_op
    %inner = transform.get_parent_op %points {op_name = "scf.for"}
      : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %inner {factor = 2} : !transform.any_op
    transform.yield
  }
}
