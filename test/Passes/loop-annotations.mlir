// Annotations of loops reach LLVM IR.
//
// RUN: mdh-opt %s --convert-scf-to-cf --convert-cf-to-llvm --mdh-loop-annotations --split-input-file --verify-diagnostics | FileCheck %s
// RUN: mdh-opt %s --convert-scf-to-cf --convert-cf-to-llvm --split-input-file | FileCheck %s --check-prefix=BEFORE

#rolled = #llvm.loop_annotation<unroll = <disable = true>>

// The branch that goes back has it.
// CHECK-LABEL: func.func @annotated
// CHECK:       llvm.cond_br
// CHECK-NOT:   loop_annotation
// CHECK:       llvm.br {{.*}} {loop_annotation = #loop_annotation}
// BEFORE:      llvm.br {{.*}} {llvm.loop_annotation = #loop_annotation}
func.func @annotated(%x: memref<64xf32>, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %x[%i] : memref<64xf32>
  } {llvm.loop_annotation = #rolled}
  return
}

// -----

// A loop that has none stays as it is.
// Silent: it asks for nothing.
// CHECK-LABEL: func.func @plain
// CHECK-NOT:   loop_annotation
// CHECK:       return
func.func @plain(%x: memref<64xf32>, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %zero, %x[%i] : memref<64xf32>
  }
  return
}

// -----

// A loop that is no branch yet says nothing to LLVM.
// CHECK-LABEL: @early
// CHECK:       llvm.loop_annotation
llvm.func @early() {
  // expected-remark@+1 {{has llvm.loop_annotation, but is no branch, so that LLVM is not told: expected it on a loop that --convert-scf-to-cf and --convert-cf-to-llvm have lowered}}
  llvm.call @body() {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>} : () -> ()
  llvm.return
}
llvm.func @body()

// -----

llvm.func @wrong() {
  // expected-error@+1 {{'llvm.br' op has llvm.loop_annotation = 1 : i64: expected #llvm.loop_annotation<..>}}
  llvm.br ^end {llvm.loop_annotation = 1 : i64}
^end:
  llvm.return
}
