// Padding is asked for where it may be read only.
//
// RUN: mdh-opt %s --mdh-vectorize --mdh-lower-to-loops --canonicalize --cse --verify-diagnostics | FileCheck %s

// A loop along lanes in three parts: the middle one reads no padding. Its bounds are known: the tiles
// at the ends are the first one and the last one.
// CHECK-LABEL: func.func @lanes(
// CHECK: vector.maskedload
// CHECK: scf.for %{{.*}} = %c16 to %c48 step %c16
// CHECK-NOT: vector.maskedload
// CHECK: }
// CHECK: vector.maskedload
// CHECK: return
func.func @lanes(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %j = %c0 to %c64 step %c16 {
    %end = arith.addi %j, %c16 : index
    mdh.compute (j = %j to %end)
      out_view(y = %y[j] : memref<64xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[j - 1][j + 1] pad(0.0 : f32) : memref<64xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {j: 16}]>)
  }
  return
}

// Rows are checked outside of the loop along lanes.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK: scf.for
// CHECK-NOT: vector.maskedload
// CHECK: }
// CHECK: vector.maskedload
// CHECK: } else {
// CHECK: scf.for
// A row that is not there is not even named.
// CHECK: arith.select
// CHECK: vector.maskedload
// CHECK: return
func.func @rows(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %next = arith.addi %i, %c1 : index
  scf.for %j = %c0 to %c64 step %c16 {
    %end = arith.addi %j, %c16 : index
    mdh.compute (i = %i to %next, j = %j to %end)
      out_view(y = %y[i, j] : memref<64x64xf32>)
      md_hom(addf, (cc, cc))
      inp_view(x = %x[i - 1, j - 1][i + 1, j + 1] pad(0.0 : f32) : memref<64x64xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 1, j: 1}, simd {j: 16}]>)
  }
  return
}

// Of strided rows, tiles at both ends are one loop, and all tiles where a row is left.
// CHECK-LABEL: func.func @strided(
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: %[[BEFORE:.*]] = arith.select %[[INSIDE]], %c1, %c4
// CHECK: %[[BEHIND:.*]] = arith.select %[[INSIDE]], %c1, %c0
// CHECK: %[[TILES:.*]] = arith.addi %[[BEFORE]], %[[BEHIND]]
// CHECK: scf.for %{{.*}} = %c0 to %[[TILES]]
// A row that is not there is not even named.
// CHECK: arith.select
// CHECK: vector.maskedload
// CHECK: scf.if %[[INSIDE]]
// CHECK: scf.for %{{.*}} = %c16 to %c48 step %c16
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func @strided(%x: memref<64x126xf32>, %y: memref<64x64xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %next = arith.addi %i, %c1 : index
  scf.for %j = %c0 to %c64 step %c16 {
    %end = arith.addi %j, %c16 : index
    mdh.compute (i = %i to %next, j = %j to %end)
      out_view(y = %y[i, j] : memref<64x64xf32>)
      md_hom(addf, (cc, cc))
      inp_view(x = %x[i - 1, j * 2 - 1][i + 1, j * 2 + 1] pad(0.0 : f32) : memref<64x126xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 1, j: 1}, simd {j: 16}]>)
  }
  return
}

// A loop with more in it stays one.
// CHECK-LABEL: func.func @shared(
// CHECK: scf.for
// CHECK: scf.if
// CHECK: vector.load
// CHECK: } else {
// CHECK: vector.maskedload
// CHECK-NOT: scf.for
// CHECK: return
func.func @shared(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  scf.for %j = %c0 to %c64 step %c16 {
    %end = arith.addi %j, %c16 : index
    mdh.compute (j = %j to %end)
      out_view(y = %y[j] : memref<64xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[j - 1][j + 1] pad(0.0 : f32) : memref<64xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {j: 16}]>)
    memref.store %one, %z[%j] : memref<64xf32>
  }
  return
}

// Loops around say that no padding is read.
// CHECK-LABEL: func.func @inside(
// CHECK-NOT: scf.if
// CHECK-NOT: cmpi
// CHECK: return
func.func @inside(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c4 = arith.constant 4 : index
  %c60 = arith.constant 60 : index
  scf.for %j = %c4 to %c60 step %c4 {
    %end = arith.addi %j, %c4 : index
    mdh.compute (j = %j to %end)
      out_view(y = %y[j] : memref<64xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[j - 4][j] pad(0.0 : f32) : memref<64xf32>)
  }
  return
}

// One element is asked for once.
// CHECK-LABEL: func.func @one(
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: return
func.func @one(%x: memref<64xf32>, %y: memref<64xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  %next = arith.addi %i, %c1 : index
  mdh.compute (i = %i to %next)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i - 1] pad(0.0 : f32) : memref<64xf32>)
  return
}

// CHECK-LABEL: func.func @divided(
func.func @divided(%x: memref<64xf32>, %y: memref<64xf32>, %i: index) {
  %c8 = arith.constant 8 : index
  %next = arith.addi %i, %c8 : index
  // expected-remark @+1 {{asks at each element whether input 'x' is left along axis 0: found an index function with a division, expected a sum of indices}}
  mdh.compute (i = %i to %next)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i floordiv 2 - 1] pad(0.0 : f32) : memref<64xf32>)
  return
}
