// Loops over one block, one warp or one thread stay what they are when upstream's passes come by: a block's memory
// stays that of the block.
//
// RUN: mdh-opt %s --pass-pipeline='builtin.module(mdh-place-on-device,mdh-tiles,canonicalize,cse,loop-invariant-code-motion,canonicalize)' | FileCheck %s
// RUN: mdh-opt %s --pass-pipeline='builtin.module(mdh-place-on-device,mdh-tiles,canonicalize,cse,loop-invariant-code-motion,canonicalize,mdh-kernels,mdh-vectors,mdh-loops)' -o %t.mlir
// RUN: %python %S/../Run/Inputs/npy.py save %t.a.npy f2 "np.arange(256).reshape(16, 16) % 13 - 5" %t.b.npy f2 "np.arange(128).reshape(16, 8) % 7 - 3" %t.x.npy f4 "np.arange(200) % 17"
// RUN: mdh run %t.mlir --entry product --device sim --report --in arg0=%t.a.npy --in arg1=%t.b.npy --random 1 --out arg2=%t.c.npy | FileCheck %s --check-prefix GOOD
// RUN: %python %S/../Run/Inputs/npy.py show %t.c.npy "[np.abs(a - np.load('%t.a.npy').astype('f4') @ np.load('%t.b.npy').astype('f4')).max()]" | FileCheck %s --check-prefix SAME
// RUN: mdh run %t.mlir --entry open --device sim --report --in arg0=%t.a.npy --in arg1=%t.b.npy --random 1 --in arg3=16 --in arg4=8 --out arg2=%t.c.npy | FileCheck %s --check-prefix GOOD
// RUN: %python %S/../Run/Inputs/npy.py show %t.c.npy "[np.abs(a - np.load('%t.a.npy').astype('f4') @ np.load('%t.b.npy').astype('f4')).max()]" | FileCheck %s --check-prefix SAME
// RUN: mdh run %t.mlir --entry warp --device sim --report --in arg0=%t.x.npy --random 1 --out arg1=%t.s.npy | FileCheck %s --check-prefix GOOD
// RUN: %python %S/../Run/Inputs/npy.py show %t.s.npy "[a - np.load('%t.x.npy').sum()]" | FileCheck %s --check-prefix SUM
// RUN: mdh run %t.mlir --entry thread --device sim --report --in arg0=%t.x.npy --random 1 --out arg1=%t.y.npy | FileCheck %s --check-prefix GOOD
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "[np.abs(a - np.cumsum(np.load('%t.x.npy'))).max()]" | FileCheck %s --check-prefix SAME
// RUN: FileCheck %s --check-prefix LAUNCH < %t.mlir
// GOOD: no mistakes found
// SAME: {{^0$}}
// SUM:  {{^0$}}

// The sizes are known: there is one block, whose level has no loop.
// CHECK-LABEL: func.func @product
// CHECK:       scf.forall (%{{.*}}) in (1) {
// CHECK-NEXT:    memref.alloca() {{.*}}#mdh.memory<"shared", block>>
// CHECK:         scf.forall (%{{.*}}) in (8) {
// CHECK:           scf.forall (%{{.*}}) in (4) {
// CHECK:           {mapping = [#gpu.thread<x>]
// CHECK:         {mapping = [#gpu.thread<y>]
// CHECK:       {mapping = [#gpu.block<x>]
// LAUNCH-LABEL: func.func @product
// LAUNCH:       gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c4{{.*}}, %{{.*}} = %c8{{.*}}, %{{.*}} = %c1{{.*}}) workgroup
func.func @product(%A: memref<16x16xf16>, %B: memref<16x8xf16>, %C: memref<16x8xf32>) {
  mdh.compute (i = 16, j = 8, k = 16)
    out_view(C = %C[i, j] : memref<16x8xf32>)
    md_hom((%x: f16, %y: f16) {
      %a = arith.extf %x : f16 to f32
      %b = arith.extf %y : f16 to f32
      %c = arith.mulf %a, %b : f32
      mdh.yield %c : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<16x16xf16>, B = %B[k, j] : memref<16x8xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [
        device {k: *}, block {i: *, j: *}, warp {i: 1, j: 1}, shared {k: 1}, thread {i: 8, j: 4}, mma {i: 2, j: 2, k: 16}],
      decompose = {
        order: [block.i, block.j, warp.i, warp.j, thread.i, thread.j, device.k, shared.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// The sizes are known at run time only: loops over as many blocks as there are.
// CHECK-LABEL: func.func @open
// CHECK:       scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK:         scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK:           memref.alloca() {{.*}}#mdh.memory<"shared", block>>
// CHECK:         {mapping = [#gpu.block<y>]
// CHECK:       {mapping = [#gpu.block<x>]
func.func @open(%A: memref<16x16xf16>, %B: memref<16x8xf16>, %C: memref<16x8xf32>, %n: index, %m: index) {
  mdh.compute (i = %n, j = %m, k = 16)
    out_view(C = %C[i, j] : memref<16x8xf32>)
    md_hom((%x: f16, %y: f16) {
      %a = arith.extf %x : f16 to f32
      %b = arith.extf %y : f16 to f32
      %c = arith.mulf %a, %b : f32
      mdh.yield %c : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<16x16xf16>, B = %B[k, j] : memref<16x8xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 1}, thread {i: 8, j: 4}, mma {i: 2, j: 2, k: 16}],
      decompose = {
        order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// One warp, whose threads combine in registers.
// CHECK-LABEL: func.func @warp
// CHECK:       scf.forall (%{{.*}}) in (1) {
// CHECK:         scf.forall (%{{.*}}) in (32) {
// CHECK:       {mapping = [#gpu.block<x>]
func.func @warp(%x: memref<200xf32>, %s: memref<f32>) {
  mdh.compute (i = 200)
    out_view(s = %s[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<200xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, warp {i: 1}, thread {i: 32}, register {i: 7}],
      outputs = {s: {combine: {thread.i: register}}}>)
  return
}

// Blocks of one thread.
func.func @thread(%x: memref<200xf32>, %y: memref<200xf32>) {
  mdh.compute (i = 200)
    out_view(y = %y[i] : memref<200xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : memref<200xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 1}, register {i: 16}]>)
  return
}
