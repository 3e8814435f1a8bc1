// Bytecode has the dialect's version: what this one writes is read back, what a newer one writes is
// refused.
//
// RUN: mdh-opt %s --emit-bytecode -o %t.mlirbc
// RUN: mdh-opt %t.mlirbc | FileCheck %s
// RUN: mdh run %t.mlirbc
// RUN: %python %S/Inputs/next_version.py %t.mlirbc %t.newer
// RUN: not mdh-opt %t.newer 2>&1 | FileCheck %s --check-prefix NEWER
// RUN: not mdh run %t.newer 2>&1 | FileCheck %s --check-prefix NEWER

// CHECK: mdh.compute (i = 8)
// NEWER: error: this file has version 2 of the mdh dialect, newer than 1, the newest that this program reads; use a newer mdh
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
