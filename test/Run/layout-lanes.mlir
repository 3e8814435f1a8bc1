// Lanes whose elements are neighbours in a layout are one vector of its memory, where they start as its
// runs do; others are accessed one by one.
// RUN: mdh run %s --entry whole --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry blocks --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry astride --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry rests --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry results --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry transposed --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry tiles --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry swizzled --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry cores --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry bits --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry stencil --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh-opt %s --pass-pipeline="builtin.module(mdh-tiles,mdh-vectors{asm=cpu})" | FileCheck %s
// RUN: mdh-opt %s --pass-pipeline="builtin.module(mdh-tiles,mdh-vectors{asm=cpu},mdh-loops)" | FileCheck %s --check-prefix LOWERED --implicit-check-not mdh.layout
// PASSED-NOT: stays scalar
// PASSED: check  passed: {{.*}} elements compared

// Rows of rows: lanes start anywhere.
// CHECK-LABEL: func.func @whole(
// CHECK: mdh.layout.apply
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<16xf32>
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<512xf32>, vector<16xf32>
// LOWERED-LABEL: func.func @whole(
func.func @whole(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "Row([16,32])"}}}>)
  return
}

// Blocks of 8x16: lanes start where these do.
// CHECK-LABEL: func.func @blocks(
// CHECK: mdh.layout.apply #mdh.layout<{{.*}}RegP([2,8,2,16],[1,3,2,4])
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<16xf32>
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<512xf32>, vector<16xf32>
func.func @blocks(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "Bricks([16,32],[8,16])"}}}>)
  return
}

// Blocks of 8x8 hold no sixteen lanes; they are copied in vectors of eight.
// CHECK-LABEL: func.func @astride(
// CHECK: mdh.layout.apply
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<8xf32>
// CHECK-NOT: mdh.layout.apply
// CHECK: memref.load %{{.*}} : memref<16x32xf32, #mdh.layout
func.func @astride(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "Bricks([16,32],[8,8])"}}}>)
  return
}

// Sizes that lanes do not divide: they are masked.
// CHECK-LABEL: func.func @rests(
// CHECK: vector.maskedstore %{{.*}} : memref<512xf32>, vector<16xi1>, vector<16xf32>
// CHECK: vector.maskedload %{{.*}} : memref<512xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
func.func @rests(%x: memref<29x27xf32>, %y: memref<29x27xf32>) {
  mdh.compute (i = 29, j = 27)
    out_view(y = %y[i, j] : memref<29x27xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<29x27xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "Bricks([16,32],[8,16])"}}}>)
  return
}

// What is computed, in a layout of results.
// CHECK-LABEL: func.func @results(
// CHECK: mdh.layout.apply
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<16xf32>
func.func @results(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      outputs = {y: {combine: {L1.i: L1}, layout: {L1.i: "Bricks([16,32],[8,16])"}}}>)
  return
}

// Columns: the copy is transposed in registers, and read along the first dimension.
// CHECK-LABEL: func.func @transposed(
// CHECK: vector.shuffle
// CHECK: mdh.layout.apply
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<16xf32>
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<512xf32>, vector<16xf32>
func.func @transposed(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[j, i] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {j: *}, simd {i: 16}],
      decompose = {order: [L2.i, L1.j, simd.i]},
      inputs = {x: {stage: {L1.j: L1}, layout: {L1.j: "Col([16,32])"}}}>)
  return
}

// A view of two levels of tiles.
// CHECK-LABEL: func.func @tiles(
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<512xf32>, vector<16xf32>
func.func @tiles(%x: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "GroupBy([2,2],[8,16])"}}}>)
  return
}

// A swizzle that moves vectors of sixteen and leaves them whole, and one of single elements.
// CHECK-LABEL: func.func @swizzled(
// CHECK: mdh.layout.apply
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<16xf32>
// CHECK: memref.store %{{.*}} : memref<16x32xf32, #mdh.layout
func.func @swizzled(%x: memref<32x32xf32>, %v: memref<32x32xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xf32>, v = %v[i, j] : memref<32x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {
        x: {stage: {L1.i: L1}, layout: {L1.i: "GenP([16,32],swizzle(1,4,1))"}},
        v: {stage: {L1.i: L1}, layout: {L1.i: "GenP([16,32],xor)"}}}>)
  return
}

// Each core has a tile of its own.
// CHECK-LABEL: func.func @cores(
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<2x512xf32>, vector<16xf32>
func.func @cores(%x: memref<64x32xf32>, %y: memref<64x32xf32>) {
  mdh.compute (i = 64, j = 32)
    out_view(y = %y[i, j] : memref<64x32xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x32xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: 2}, L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [core.i, L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "Bricks([16,32],[8,16])"}}}>)
  return
}

// Truth values are bytes in memory.
// CHECK-LABEL: func.func @bits(
// CHECK: mdh.layout.apply
// CHECK: vector.store %{{.*}} : memref<512xi8>, vector<16xi8>
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<512xi8>, vector<16xi8>
func.func @bits(%x: memref<32x32xi1>, %y: memref<32x32xi1>) {
  mdh.compute (i = 32, j = 32)
    out_view(y = %y[i, j] : memref<32x32xi1>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x32xi1>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1}, layout: {L1.i: "Bricks([16,32],[8,16])"}}}>)
  return
}

// Of a tile with a border, lanes start at each index.
// CHECK-LABEL: func.func @stencil(
// CHECK: mdh.layout.apply
// CHECK: vector.load %{{.*}} : memref<544xf32>, vector<16xf32>
func.func @stencil(%x: memref<34xf32>, %z: memref<34x34xf32>, %y: memref<32x32xf32>) {
  mdh.compute (i = 32, j = 32, s = 3)
    out_view(y = %y[i, j] : memref<32x32xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(x = %x[i] : memref<34xf32>, z = %z[i, j + s] : memref<34x34xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 16, j: *}, register {s: 3}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, register.s, simd.j]},
      inputs = {z: {stage: {L1.i: L1}, layout: {L1.i: "Row([16,34])"}}}>)
  return
}

// Rows in the order of a table, and lanes beyond them.
// CHECK-LABEL: func.func @rows(
// CHECK: mdh.layout.apply
// CHECK: vector.maskedload %{{.*}} : memref<160xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
func.func @rows(%x: memref<32x18xf32>, %y: memref<32x18xf32>) {
  mdh.compute (i = 32, j = 18)
    out_view(y = %y[i, j] : memref<32x18xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<32x18xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [L2 {i: *}, L1 {i: 8, j: *}, register {j: 2}, simd {j: 16}],
      decompose = {order: [L2.i, L1.i, L1.j, register.j, simd.j]},
      inputs = {x: {stage: {L1.i: L1},
        layout: {L1.i: "OrderBy(GenP([8],table([3,1,0,2,7,6,4,5])),Row([20])).GroupBy([8,20])"}}}>)
  return
}
