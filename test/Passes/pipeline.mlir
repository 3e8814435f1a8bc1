// Passes and pipelines by name, with upstream's flags.
//
// RUN: mdh-opt %s --pass-pipeline="builtin.module(mdh-form-compute,canonicalize,mdh-bufferize,mdh-loops)" \
// RUN:   | FileCheck %s
// RUN: mdh-opt %s --mdh-form --mdh-simplify --mdh-bufferize --mdh-loops | FileCheck %s
// RUN: mdh-opt %s --pass-pipeline="builtin.module(mdh-form,canonicalize)" --mlir-print-ir-after-all -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix AFTER
// RUN: mdh-opt %s --mdh-form-compute --mlir-print-ir-before=mdh-form-compute -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix BEFORE
// RUN: mdh-opt %s --mdh-form --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix DUMP
// RUN: not mdh-opt %s --pass-pipeline="builtin.module(func.func(mdh-form-compute))" 2>&1 \
// RUN:   | FileCheck %s --check-prefix NESTED
// RUN: mdh-opt --help | FileCheck %s --check-prefix HELP

// CHECK-LABEL: @matvec
// CHECK: scf.for
// CHECK: scf.for

// AFTER: // -----// IR Dump After {{.*}}mdh-form-compute
// AFTER: mdh.compute (i = 8, k = 5)
// AFTER: // -----// IR Dump After Canonicalizer
// AFTER: mdh.compute (i = 8, k = 5)

// BEFORE: // -----// IR Dump Before {{.*}}mdh-form-compute
// BEFORE: mdh.inp_view

// DUMP:      builtin.module(
// DUMP-NEXT:   mdh-form-compute
// DUMP-NEXT: )

// NESTED: restricted to 'builtin.module' on a PassManager intended to run on 'func.func'

// HELP-DAG: --mdh-form-compute
// HELP-DAG: --mdh-fuse
// HELP-DAG: --mdh-insert-range-checks
// HELP-DAG: --mdh-to-triple
func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %mda = mdh.inp_view (i = 8, k = 5) (%M[i, k] : tensor<8x5xf32>, %v[k] : tensor<5xf32>)
       : !mdh.mda<8x5, f32, f32>
  %prod = mdh.hom(mulf, (cc, pw(addf))) %mda : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
  %w = mdh.out_view (i, k) %prod -> (w = %init[i] : tensor<8xf32>) : !mdh.mda<8x1, f32>
  return %w : tensor<8xf32>
}
