// Schedules: printed in one way, in every form of the operation, on computations and homs.
//
// RUN: mdh-opt %s | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix GENERIC
// RUN: mdh-opt %s --mdh-to-triple | FileCheck %s --check-prefix TRIPLE
// RUN: mdh-opt %s -o %t.compute
// RUN: mdh-opt %s --mdh-to-triple | mdh-opt --mdh-form-compute -o %t.formed
// RUN: diff %t.compute %t.formed
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @matvec
// CHECK:      {{^    }}%{{.*}} = mdh.compute (i = 8, k = 5)
// CHECK-NEXT: {{^      }}out_view(w = %{{.*}}[i] : tensor<8xf32>)
// CHECK-NEXT: {{^      }}md_hom(mulf, (cc, pw(addf)))
// CHECK-NEXT: {{^      }}inp_view(M = %{{.*}}[i, k] : tensor<8x5xf32>, v = %{{.*}}[k] : tensor<5xf32>)
// CHECK-NEXT: {{^      }}schedule(#mdh.schedule<
// CHECK-NEXT: {{^        }}asm = cpu,
// CHECK-NEXT: {{^        }}layers = [main {k: *}, core {i: 2}],
// CHECK-NEXT: {{^        }}inputs = {M: {stage: {core.i: L2}}}>) {tag = 1 : i64}
// GENERIC: pads = [unit, unit], schedule = #mdh.schedule<
// GENERIC-NEXT: {{^  }}asm = cpu,
// TRIPLE-LABEL: @matvec
// TRIPLE:      mdh.hom(mulf, (cc, pw(addf))) %{{[^ ]*$}}
// TRIPLE-NEXT: {{^      }}schedule(#mdh.schedule<
// TRIPLE-NEXT: {{^        }}asm = cpu,
// TRIPLE-NEXT: {{^        }}layers = [main {k: *}, core {i: 2}],
// TRIPLE-NEXT: {{^        }}inputs = {M: {stage: {core.i: L2}}}>) : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %w = mdh.compute (i = 8, k = 5)
    out_view(w = %init[i] : tensor<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(%M[i, k] : tensor<8x5xf32>, %v[k] : tensor<5xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = ["main" {k: *}, core {i: 2}],
                           inputs = {M: {stage: {core.i: L2}}}>) // the others are defaults
    {tag = 1}
  return %w : tensor<8xf32>
}

// Nothing is said; a carry before; dimensions of one point, which stay because they are named.
// CHECK-LABEL: @little
// CHECK:      mdh.compute (i = 1, k = 5)
// CHECK:        carry k (c = %{{.*}}[i] : tensor<1xf32>)
// CHECK-NEXT:   schedule(#mdh.schedule<>)
// CHECK-NEXT: return
func.func @little(%M: tensor<1x5xf32>, %c: tensor<1xf32>) -> tensor<1xf32> {
  %init = tensor.empty() : tensor<1xf32>
  %w = mdh.compute (i = 1, k = 5)
    out_view(w = %init[i] : tensor<1xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(%M[i, k] : tensor<1x5xf32>)
    carry k (c = %c[i] : tensor<1xf32>)
    schedule(#mdh.schedule<>)
  return %w : tensor<1xf32>
}
