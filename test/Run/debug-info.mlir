// Code says which line it comes from: the loops of a computation that of the computation.
//
// RUN: mdh compile %s --emit obj --debug-info -o %t.o
// RUN: llvm-dwarfdump --debug-line %t.o | FileCheck %s
// RUN: llvm-symbolizer --obj=%t.o --functions=linkage "mdh.twice+8" 2>&1 | FileCheck %s --check-prefix SYMBOL
// RUN: mdh compile %s --emit shared --debug-info -o %t.so
// RUN: llvm-dwarfdump --debug-line %t.so | FileCheck %s
// RUN: mdh compile %s --emit obj -o %t.o
// RUN: llvm-dwarfdump --debug-line %t.o | FileCheck %s --check-prefix NONE

// CHECK: name: "debug-info.mlir"
// CHECK: {{^}}0x{{[0-9a-f]*}} {{ *}}[[@LINE+9]] {{.*}} is_stmt

// NONE-NOT: {{^}}0x

// SYMBOL: mdh.twice
// SYMBOL-NEXT: debug-info.mlir

func.func @twice(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %init = tensor.empty() : tensor<1000xf32>
  %y = mdh.compute (i = 1000)
      out_view(y = %init[i] : tensor<1000xf32>)
      md_hom((%x_i: f32) {
        %y_i = arith.addf %x_i, %x_i : f32
        mdh.yield %y_i : f32
      }, (cc))
      inp_view(x = %x[i] : tensor<1000xf32>)
  return %y : tensor<1000xf32>
}
