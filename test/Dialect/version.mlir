// Bytecode has the dialect's version: what this one writes is read back, what another one writes is
// refused.
//
// RUN: mdh-opt %s --emit-bytecode -o %t.mlirbc
// RUN: mdh-opt %t.mlirbc | FileCheck %s
// RUN: mdh run %t.mlirbc
// RUN: %python %S/Inputs/other_version.py %t.mlirbc %t.newer 4 5
// RUN: not mdh-opt %t.newer 2>&1 | FileCheck %s --check-prefix NEWER
// RUN: not mdh run %t.newer 2>&1 | FileCheck %s --check-prefix NEWER
// RUN: %python %S/Inputs/other_version.py %t.mlirbc %t.older 4 3
// RUN: not mdh-opt %t.older 2>&1 | FileCheck %s --check-prefix OLDER

// CHECK: mdh.compute (i = 8)
// NEWER: error: this file has version 5 of the mdh dialect, newer than 4, the newest that this program reads; use a newer mdh
// OLDER: error: this file has version 3 of the mdh dialect, but this program reads version 4; write it again from its text
func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}
