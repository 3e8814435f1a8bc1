// Tiles of narrow numbers are staged in the type that the scalar function widens them to.
// RUN: mdh-opt %s --mdh-tiles | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK: memref.alloc() {{.*}} : memref<8x16xf32, #mdh.memory<"L2">>
// CHECK: md_hom((%[[NARROW:.*]]: bf16) {
// CHECK-NEXT: arith.extf %[[NARROW]] : bf16 to f32
// CHECK: md_hom((%[[A:.*]]: bf16, %[[B:.*]]: f32) {
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT: arith.mulf %[[WIDE]], %[[B]] : f32
func.func @product(%a: memref<4x8xbf16>, %b: memref<8x16xbf16>, %c: memref<4x16xf32>) {
  mdh.compute (i = 4, j = 16, k = 8)
    out_view(c = %c[i, j] : memref<4x16xf32>)
    md_hom((%x: bf16, %y: bf16) {
      %p = arith.extf %x : bf16 to f32
      %q = arith.extf %y : bf16 to f32
      %r = arith.mulf %p, %q : f32
      mdh.yield %r : f32
    }, (cc, cc, pw(addf)))
    inp_view(a = %a[i, k] : memref<4x8xbf16>, b = %b[k, j] : memref<8x16xbf16>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *, k: *}],
      decompose = {order: [L1.i, L1.j, L1.k]}, inputs = {b: {stage: {L1.i: L2}}}>)
  return
}

// What is used otherwise as well stays as it is.
// CHECK-LABEL: func.func @both
// CHECK: memref.alloc() {{.*}} : memref<16xi8, #mdh.memory<"L2">>
// CHECK-NOT: arith.extsi
// CHECK: md_hom((%{{.*}}: i8) {
// CHECK: arith.extsi
func.func @both(%x: memref<16xi8>, %y: memref<16xi8>, %z: memref<16xi32>) {
  mdh.compute (i = 16)
    out_view(y = %y[i] : memref<16xi8>, z = %z[i] : memref<16xi32>)
    md_hom((%v: i8) {
      %w = arith.extsi %v : i8 to i32
      mdh.yield %v, %w : i8, i32
    }, (cc))
    inp_view(x = %x[i] : memref<16xi8>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}],
      decompose = {order: [L1.i]}, inputs = {x: {stage: {L1.i: L2}}}>)
  return
}
