// What a vector is converted in has no blocks yet: blocks that are alike are not merged, of which each may double
// the operands of branches.
// RUN: mdh-opt %s --mdh-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @either
// CHECK-NOT: ^bb{{[0-9]+}}(
// CHECK: llvm.cond_br
// CHECK-COUNT-2: llvm.store
func.func @either(%c: i1, %a: vector<4xf32>, %b: vector<4xf32>, %m: memref<4xf32>) {
  %0 = arith.constant 0 : index
  scf.if %c {
    %x = arith.addf %a, %a : vector<4xf32>
    vector.store %x, %m[%0] : memref<4xf32>, vector<4xf32>
  } else {
    %x = arith.addf %b, %b : vector<4xf32>
    vector.store %x, %m[%0] : memref<4xf32>, vector<4xf32>
  }
  return
}
