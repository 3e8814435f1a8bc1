// Sums of products of narrow numbers: one instruction combines neighbouring points in each lane,
// where the machine has it.
// RUN: mdh-opt %s --mdh-vectorize=features=avx512_vnni,avx512_bf16 --canonicalize --cse | FileCheck %s
// RUN: mdh-opt %s --mdh-vectorize=asm=cpu --canonicalize --cse | FileCheck %s --check-prefix=NONE
// RUN: mdh-opt %s --pass-pipeline='builtin.module(mdh-vectorize{features=avx512_vnni,avx512_bf16},mdh-loops,mdh-llvm{asm=cpu})' \
// RUN:   | mlir-translate --mlir-to-llvmir | llc -mtriple=x86_64 -mcpu=cooperlake | FileCheck %s --check-prefix=ASM
// NONE-NOT: llvm.call_intrinsic
// NONE-NOT: llvm.inline_asm

// Both have a sign: the highest bits of the rows are flipped, and 128 times the columns is taken
// away after the loop, once for all rows.
// CHECK-LABEL: func.func @bytes
// CHECK:       %[[SUMS:.*]]:3 = scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK:         %[[A:.*]] = vector.load %{{.*}} : memref<2x64xi8>, vector<4xi8>
// CHECK:         %[[BITS:.*]] = vector.bitcast %[[A]] : vector<4xi8> to vector<1xi32>
// CHECK:         %[[WORD:.*]] = vector.extract %[[BITS]][0] : i32 from vector<1xi32>
// CHECK:         arith.xori %[[WORD]], %c-2139062144_i32
// CHECK:         vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK-COUNT-3: vector.interleave
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK:       arith.subi %[[SUMS]]#0, %[[SUMS]]#2
// CHECK:       arith.subi %[[SUMS]]#1, %[[SUMS]]#2
// ASM-LABEL: bytes:
// ASM:       vpdpbusd
func.func @bytes(%A: memref<2x64xi8>, %B: memref<64x16xi8>, %C: memref<2x16xi32>) {
  mdh.compute (i = 2, j = 16, k = 64)
      out_view(C = %C[i, j] : memref<2x16xi32>)
      md_hom((%a: i8, %b: i8) {
        %x = arith.extsi %a : i8 to i32
        %y = arith.extsi %b : i8 to i32
        %p = arith.muli %x, %y : i32
        mdh.yield %p : i32
      }, (cc, cc, pw(addi)))
      inp_view(A = %A[i, k] : memref<2x64xi8>, B = %B[k, j] : memref<64x16xi8>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {k: *}, register {i: 2}, simd {j: 16, k: 4}],
        decompose = {order: [L1.k, register.i, simd.j, simd.k]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}

// What lies in groups already is loaded as it is, wherever the loops around begin.
// CHECK-LABEL: func.func @grouped
// CHECK:       scf.for %[[OUTER:.*]] = %c0 to %c64 step %c32
// CHECK:         scf.for %[[K:.*]] = %[[OUTER]] to
// CHECK:           %[[GROUP:.*]] = arith.floordivsi %[[K]], %c4
// CHECK:           vector.load %{{.*}}[%[[GROUP]], %c0, %c0] : memref<16x16x4xi8>, vector<64xi8>
// CHECK-NOT:       memref.load
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
func.func @grouped(%A: memref<2x64xi8>, %B: memref<16x16x4xi8>, %C: memref<2x16xi32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %first = %c0 to %c64 step %c32 {
    %end = arith.addi %first, %c32 : index
    mdh.compute (i = 2, j = 16, k = %first to %end)
        out_view(C = %C[i, j] : memref<2x16xi32>)
        md_hom((%a: i8, %b: i8) {
          %x = arith.extui %a : i8 to i32
          %y = arith.extsi %b : i8 to i32
          %p = arith.muli %x, %y : i32
          mdh.yield %p : i32
        }, (cc, cc, pw(addi)))
        inp_view(A = %A[i, k] : memref<2x64xi8>, B = %B[k floordiv 4, j, k mod 4] : memref<16x16x4xi8>)
        schedule(#mdh.schedule<asm = cpu, layers = [L1 {k: *}, register {i: 2}, simd {j: 16, k: 4}],
          decompose = {order: [L1.k, register.i, simd.j, simd.k]},
          outputs = {C: {combine: {L1.k: register}}}>)
  }
  return
}

// One of them has a sign: nothing to turn. Points beyond the last group are combined one by one.
// CHECK-LABEL: func.func @mixed
// CHECK-NOT:   arith.xori
// CHECK:       llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK:       arith.muli
func.func @mixed(%A: memref<2x66xi8>, %B: memref<66x16xi8>, %C: memref<2x16xi32>) {
  mdh.compute (i = 2, j = 16, k = 66)
      out_view(C = %C[i, j] : memref<2x16xi32>)
      md_hom((%a: i8, %b: i8) {
        %x = arith.extui %a : i8 to i32
        %y = arith.extsi %b : i8 to i32
        %p = arith.muli %x, %y : i32
        mdh.yield %p : i32
      }, (cc, cc, pw(addi)))
      inp_view(A = %A[i, k] : memref<2x66xi8>, B = %B[k, j] : memref<66x16xi8>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {k: *}, register {i: 2}, simd {j: 16, k: 4}],
        decompose = {order: [L1.k, register.i, simd.j, simd.k]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}

// CHECK-LABEL: func.func @words
// CHECK:       llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// ASM-LABEL: words:
// ASM:       vpdpwssd
func.func @words(%A: memref<2x64xi16>, %B: memref<64x16xi16>, %C: memref<2x16xi32>) {
  mdh.compute (i = 2, j = 16, k = 64)
      out_view(C = %C[i, j] : memref<2x16xi32>)
      md_hom((%a: i16, %b: i16) {
        %x = arith.extsi %a : i16 to i32
        %y = arith.extsi %b : i16 to i32
        %p = arith.muli %x, %y : i32
        mdh.yield %p : i32
      }, (cc, cc, pw(addi)))
      inp_view(A = %A[i, k] : memref<2x64xi16>, B = %B[k, j] : memref<64x16xi16>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {k: *}, register {i: 2}, simd {j: 16, k: 2}],
        decompose = {order: [L1.k, register.i, simd.j, simd.k]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}

// The instruction takes denormal numbers for zeros, which this product permits.
// CHECK-LABEL: func.func @fast_floats
// CHECK:       llvm.inline_asm "vdpbf16ps $3, $2, $0", "=v,0,v,v" %{{.*}} : (vector<16xf32>, vector<16xi32>, vector<16xi32>) -> vector<16xf32>
// ASM-LABEL: fast_floats:
// ASM:       vdpbf16ps
func.func @fast_floats(%A: memref<2x64xbf16>, %B: memref<64x16xbf16>, %C: memref<2x16xf32>) {
  mdh.compute (i = 2, j = 16, k = 64)
      out_view(C = %C[i, j] : memref<2x16xf32>)
      md_hom((%a: bf16, %b: bf16) {
        %x = arith.extf %a : bf16 to f32
        %y = arith.extf %b : bf16 to f32
        %p = arith.mulf %x, %y fastmath<fast> : f32
        mdh.yield %p : f32
      }, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<2x64xbf16>, B = %B[k, j] : memref<64x16xbf16>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {k: *}, register {i: 2}, simd {j: 16, k: 2}],
        decompose = {order: [L1.k, register.i, simd.j, simd.k]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}

// This one does not.
// CHECK-LABEL: func.func @floats
// CHECK-NOT:   llvm.call_intrinsic
// CHECK:       return
// ASM-LABEL: {{^}}floats:
// ASM-NOT:   vdpbf16ps
// ASM:       vfmadd
func.func @floats(%A: memref<2x64xbf16>, %B: memref<64x16xbf16>, %C: memref<2x16xf32>) {
  mdh.compute (i = 2, j = 16, k = 64)
      out_view(C = %C[i, j] : memref<2x16xf32>)
      md_hom((%a: bf16, %b: bf16) {
        %x = arith.extf %a : bf16 to f32
        %y = arith.extf %b : bf16 to f32
        %p = arith.mulf %x, %y : f32
        mdh.yield %p : f32
      }, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<2x64xbf16>, B = %B[k, j] : memref<64x16xbf16>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {k: *}, register {i: 2}, simd {j: 16, k: 2}],
        decompose = {order: [L1.k, register.i, simd.j, simd.k]},
        outputs = {C: {combine: {L1.k: register}}}>)
  return
}
