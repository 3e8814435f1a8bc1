// The matrix product's machine code, for one machine whatever this one is: in its innermost loops all
// multiply-adds are packed, on the widest registers, and nothing is on the stack. The sizes divide by
// the tiles, then by nothing, then are not known.
//
// DEFINE: %{schedule} = mdh-schedule{asm=cpu l1=49152 l2=2097152}
// DEFINE: %{to-code} = mdh-opt --pass-pipeline="builtin.module(mdh-form,mdh-simplify,mdh-bufferize,%{schedule},mdh-tiles,mdh-vectors{asm=cpu},mdh-loops,mdh-parallel,mdh-llvm{asm=cpu})" \
// DEFINE:   | mlir-translate --mlir-to-llvmir \
// DEFINE:   | opt -O3 -S -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake-avx512 \
// DEFINE:   | llc -O3 -dag-maps-huge-region=200 -mtriple=x86_64-unknown-linux-gnu -mcpu=skylake-avx512 \
// DEFINE:   | %python %S/Inputs/inner_loops.py
// DEFINE: %{check} = FileCheck %s --implicit-check-not="{{[1-9][0-9]*}} on narrower" \
// DEFINE:   --implicit-check-not="{{[1-9][0-9]*}} accesses" --check-prefix
//
// RUN: sed 's/64/1024/g' %examples/matmul.mlir | %{to-code} | %{check} KERNEL
// RUN: sed 's/64/1021/g' %examples/matmul.mlir | %{to-code} | %{check} KERNEL
// RUN: sed 's/64/1024/g; s/f32/f64/g' %examples/matmul.mlir | %{to-code} | %{check} KERNEL
// RUN: cat %s | %{to-code} > %t.loops
// RUN: grep dynamic %t.loops | %{check} DYNAMIC
// RUN: grep -v dynamic %t.loops | FileCheck %s
//
// What is run on such a machine is the same, where this one has such registers.
// RUN: %if avx512f %{ sed 's/64/1024/g' %examples/matmul.mlir > %t.mlir %}
// RUN: %if avx512f %{ env MDH_ASM=%S/../Inputs/avx512.json mdh compile %t.mlir --emit asm | %python %S/Inputs/inner_loops.py | %{check} KERNEL %}

// KERNEL: matmul_parallel: 24 packed on zmm (24 sums), 0 on narrower registers, 0 accesses to the stack

// DYNAMIC: dynamic_parallel: 24 packed on zmm (24 sums), 0 on narrower registers, 0 accesses to the stack
func.func @dynamic(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %I: index, %J: index, %K: index) {
  mdh.compute (i = %I, j = %J, k = %K)
    out_view(C = %C[i, j] : memref<?x?xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf32>, B = %B[k, j] : memref<?x?xf32>)
  return
}

// What is counted is seen: sums that fill all registers leave none for what they are sums of, and lanes
// of a schedule may be fewer than the machine's.
// CHECK: too_large_parallel: {{.*}}, 0 on narrower registers, {{[1-9][0-9]*}} accesses to the stack
func.func @too_large(%A: memref<1024x1024xf32>, %B: memref<1024x1024xf32>, %C: memref<1024x1024xf32>) {
  mdh.compute (i = 1024, j = 1024, k = 1024)
    out_view(C = %C[i, j] : memref<1024x1024xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<1024x1024xf32>, B = %B[k, j] : memref<1024x1024xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: 2}, main {k: *}, L3 {i: *}, L2 {i: 2}, L1 {j: *, k: 256}, register {i: 8, j: 4}, simd {j: 16}],
      outputs = {C: {combine: {L1.k: register}}}>)
  return
}
// CHECK: narrow_parallel: 0 packed on zmm (12 sums), 12 on narrower registers, 0 accesses to the stack
func.func @narrow(%A: memref<1024x1024xf32>, %B: memref<1024x1024xf32>, %C: memref<1024x1024xf32>) {
  mdh.compute (i = 1024, j = 1024, k = 1024)
    out_view(C = %C[i, j] : memref<1024x1024xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<1024x1024xf32>, B = %B[k, j] : memref<1024x1024xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: 2}, main {k: *}, L3 {i: *}, L2 {i: 2}, L1 {j: *, k: 256}, register {i: 6, j: 2}, simd {j: 8}],
      outputs = {C: {combine: {L1.k: register}}}>)
  return
}
