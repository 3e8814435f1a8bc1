// Loops around the innermost one of a copy are not unrolled: LLVM's vectorizer would look at all
// pairs of a hundred loads and stores. What computes is left to LLVM.
//
// RUN: mdh compile %s --emit loops | FileCheck %s
// RUN: mdh compile %s --emit llvm-dialect --no-schedules | FileCheck %s --check-prefix=BRANCH
// RUN: mdh run %s --entry transposed --random 1 --check

// CHECK:       #llvm.loop_unroll<disable = true>
// CHECK-LABEL: func.func @transposed
// CHECK:       scf.for
// CHECK:       memref.store
// CHECK-NEXT:  }
// CHECK-NEXT:  } {llvm.loop_annotation
// CHECK-LABEL: func.func @transposed_squares
// CHECK-NOT:   llvm.loop_annotation

// BRANCH:      llvm.br {{.*}} {loop_annotation = #loop_annotation}
func.func @transposed(%x: tensor<24x3x7xf32>) -> tensor<7x24x3xf32> {
  %init = tensor.empty() : tensor<7x24x3xf32>
  %y = mdh.compute (i = 7, j = 24, k = 3)
    out_view(y = %init[i, j, k] : tensor<7x24x3xf32>)
    md_hom(id, (cc, cc, cc))
    inp_view(x = %x[j, k, i] : tensor<24x3x7xf32>)
    schedule(#mdh.schedule<asm = cpu>)
  return %y : tensor<7x24x3xf32>
}

func.func @transposed_squares(%x: tensor<24x3x7xf32>) -> tensor<7x24x3xf32> {
  %init = tensor.empty() : tensor<7x24x3xf32>
  %y = mdh.compute (i = 7, j = 24, k = 3)
    out_view(y = %init[i, j, k] : tensor<7x24x3xf32>)
    md_hom((%e: f32) {
      %square = arith.mulf %e, %e : f32
      mdh.yield %square : f32
    }, (cc, cc, cc))
    inp_view(x = %x[j, k, i] : tensor<24x3x7xf32>)
    schedule(#mdh.schedule<asm = cpu>)
  return %y : tensor<7x24x3xf32>
}
