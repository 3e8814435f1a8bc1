// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-lower-to-loops --canonicalize --cse | FileCheck %s

// The nest: cc outermost, the sum in a value, one store a row.
// CHECK-LABEL: func.func @matvec
// CHECK:       scf.for %[[I:.*]] = %c0 to %c8 step %c1 {
// CHECK:         %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c5 step %c1 iter_args(%[[ACC:.*]] = %cst) -> (f32) {
// CHECK:           %[[M:.*]] = memref.load %arg0[%[[I]], %[[K]]]
// CHECK:           %[[V:.*]] = memref.load %arg1[%[[K]]]
// CHECK:           %[[P:.*]] = arith.mulf %[[M]], %[[V]] : f32
// CHECK:           %[[S:.*]] = arith.addf %[[ACC]], %[[P]] fastmath<reassoc> : f32
// CHECK:           scf.yield %[[S]]
// CHECK:         memref.store %[[SUM]], %arg2[%[[I]]]
func.func @matvec(%M: memref<8x5xf32>, %v: memref<5xf32>, %w: memref<8xf32>) {
  mdh.compute (i = 8, k = 5)
    out_view(%w[i] : memref<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(%M[i, k] : memref<8x5xf32>, %v[k] : memref<5xf32>)
  return
}

// Two prefix-sums: one slice, allocated before the nest and freed after it.
// CHECK-LABEL: func.func @sat
// CHECK:       %[[SLICE:.*]] = memref.alloc() : memref<7xi64>
// CHECK:       scf.for %[[I:.*]] = %c0 to %c3 step %c1 {
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for %[[J:.*]] = %c0 to %c7 step %c1 iter_args
// CHECK:           arith.cmpi eq, %[[I]], %c0
// CHECK:           memref.load %[[SLICE]][%[[J]]]
// CHECK:           memref.store {{.*}}, %[[SLICE]][%[[J]]]
// CHECK:           memref.store {{.*}}, %arg1[%[[I]], %[[J]]]
// CHECK:       memref.dealloc %[[SLICE]]
func.func @sat(%x: memref<3x7xi64>, %y: memref<3x7xi64>) {
  mdh.compute (i = 3, j = 7)
    out_view(%y[i, j] : memref<3x7xi64>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(%x[i, j] : memref<3x7xi64>)
  return
}

// An operator without a neutral element: a valid bit says whether there is anything yet.
// CHECK-LABEL: func.func @last
// CHECK:       %[[R:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %false) -> (i32, i1)
// CHECK:         scf.yield %{{.*}}, %true
// CHECK:       scf.if %[[R]]#1 {
// CHECK:         memref.store %[[R]]#0
func.func @last(%x: memref<?xi32>, %n: index, %y: memref<i32>) {
  mdh.compute (i = %n)
    out_view(%y[] : memref<i32>)
    md_hom(id, (pw(last)))
    inp_view(%x[i] : memref<?xi32>)
    combine last associative (%a: i32, %b: i32) { mdh.yield %b : i32 }
  return
}

// A grid: with one point a period the step is the loop's, else points are counted.
// CHECK-LABEL: func.func @grids
// CHECK:       scf.for %{{.*}} = %c2 to %c20 step %c3 {
// CHECK:       scf.for %[[N:.*]] = %c0 to %c12 step %c1 {
// CHECK:         arith.divsi %[[N]], %c2
// CHECK:         arith.remsi %[[N]], %c2
func.func @grids(%x: memref<20xf64>, %y: memref<20xf64>) {
  mdh.compute (i = 2 to 20 step 3)
    out_view(%y[i] : memref<20xf64>)
    md_hom(id, (cc)) inp_view(%x[i] : memref<20xf64>)
  mdh.compute (i = 2 to 20 step 3 width 2)
    out_view(%y[i] : memref<20xf64>)
    md_hom(id, (cc)) inp_view(%x[i] : memref<20xf64>)
  return
}

// Padding: a coordinate is compared unsigned, so that one comparison finds both sides.
// CHECK-LABEL: func.func @shifted
// CHECK:       %[[AT:.*]] = arith.addi %{{.*}}, %c-1
// CHECK:       %[[IN:.*]] = arith.cmpi ult, %[[AT]], %c9 : index
// CHECK:       scf.if %[[IN]] -> (f32)
// CHECK:         memref.load %arg0[%[[AT]]]
// CHECK:       else
// CHECK:         scf.yield %cst
func.func @shifted(%x: memref<9xf32>, %y: memref<9xf32>) {
  mdh.compute (i = 9)
    out_view(%y[i] : memref<9xf32>)
    md_hom(id, (cc)) inp_view(%x[i - 1] pad(7.0 : f32) : memref<9xf32>)
  return
}

// A carry is combined in front of the tile, and carried out.
// CHECK-LABEL: func.func @tile
// CHECK:       %[[T:.*]] = scf.for
// CHECK:       %[[C:.*]] = memref.load %arg1
// CHECK:       %[[R:.*]] = scf.if %arg2 -> (f32) {
// CHECK:         arith.addf %[[C]], %[[T]] fastmath<reassoc>
// CHECK:       else
// CHECK:         scf.yield %[[T]]
// CHECK:       memref.store %[[R]], %arg3
// CHECK:       memref.store %[[R]], %arg4
func.func @tile(%x: memref<5xf32>, %c: memref<f32>, %b: i1, %d: memref<f32>, %y: memref<f32>) {
  mdh.compute (k = 5 to 10)
    out_view(%y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(%x[k] origin(5) : memref<5xf32>)
    carry k (c = %c[] : memref<f32>) valid %b -> (d = %d[] : memref<f32>)
  return
}

// -----

// What is no computation stays.
// Silent: linalg has passes of its own.
// CHECK-LABEL: func.func @loops
// CHECK:       linalg.fill
func.func @loops(%y: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<9xf32>)
  return
}

// -----

// Loops over all points, not those over tiles.
// CHECK-LABEL: func.func @scheduled
// CHECK:       scf.for %{{.*}} = %c0 to %c64 step %c1
// CHECK-NOT:   scf.for
func.func @scheduled(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-remark @+1 {{has a schedule with 1 loop over tiles, which is not followed: run mdh-tile first}}
  mdh.compute (i = 64)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc)) inp_view(x = %x[i] : memref<64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, register {i: 8}]>)
  return
}

// -----

func.func @tensors(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{works on tensors: loops need memrefs; run one-shot-bufferize first}}
  %r = mdh.compute (i = 9)
    out_view(%y[i] : tensor<9xf32>)
    md_hom(id, (cc)) inp_view(%x[i] : tensor<9xf32>)
  return %r : tensor<9xf32>
}
