// Computations without a schedule get one from the model.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-schedule="asm=cpu cores=2 vector=64 registers=32 l1=32768 l2=1048576 l3=33554432" \
// RUN:   | FileCheck %s
// RUN: not mdh-opt %s --split-input-file --mdh-schedule="asm=cpu cores=none" 2>&1 | FileCheck %s --check-prefix OPTION
// RUN: not mdh-opt %s --split-input-file --mdh-schedule=asm=tpu 2>&1 | FileCheck %s --check-prefix MACHINE
// RUN: not mdh-opt %s --split-input-file --mdh-schedule=asm=opencl 2>&1 | FileCheck %s --check-prefix OTHER
// OTHER: error: {{.*}}option 'asm' of mdh-schedule: 'opencl' has neither cores with vector lanes nor blocks of threads: expected a machine like cpu, cuda, multi_cuda or cluster_multi_cuda
// OPTION: error: {{.*}}option 'cores' of mdh-schedule is 'none': expected a positive number
// MACHINE: error: {{.*}}option 'asm' of mdh-schedule: cannot read 'tpu': {{.*}}; expected a file as `mdh asm --json` writes it, or one of cpu, cuda

// CHECK-LABEL: func.func @product
// CHECK:       schedule(#mdh.schedule<
// CHECK-NEXT:    asm = cpu,
// CHECK-NEXT:    layers = [core {i: 2}, L1 {i: *, j: *}, register {i: 8}, simd {j: 16}],
// CHECK-NEXT:    decompose = {order: [core.i, L1.i, L1.j, register.i, simd.j]},
func.func @product(%x: memref<4096x4096xf32>, %v: memref<4096xf32>, %y: memref<4096xf32>) {
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i] : memref<4096xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>, v = %v[j] : memref<4096xf32>)
  return
}

// One's own stays.
// CHECK-LABEL: func.func @own
// CHECK:       schedule(#mdh.schedule<
// CHECK-NEXT:    asm = cpu,
// CHECK-NEXT:    layers = [L1 {i: *}]>)
func.func @own(%x: memref<64xf32>, %y: memref<64xf32>) {
  mdh.compute (i = 64)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<64xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}]>)
  return
}

// -----

// CHECK-LABEL: func.func @none
// CHECK-NOT:   schedule
func.func @none(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-remark @+1 {{stays without a schedule: it has no points, or a dimension whose width is not known}}
  mdh.compute (i = 0)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<64xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @tensors
// CHECK-NOT:   schedule
func.func @tensors(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // expected-remark @+1 {{stays without a schedule: it works on tensors; run one-shot-bufferize first}}
  %0 = mdh.compute (i = 64)
    out_view(y = %y[i] : tensor<64xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<64xf32>)
  return %0 : tensor<64xf32>
}
