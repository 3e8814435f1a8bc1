// C[j, i] = 7 i j for A[k, i] = i and B[j, k] = j; a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.A.npy f4 "np.indices((7, 10))[1]" \
// RUN:   %t.B.npy f4 "np.indices((12, 7))[0]"
// RUN: mdh run %examples/matmul_t.mlir --in %t.A.npy %t.B.npy \
// RUN:   --out %t.C.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.C.npy "a[[1, 11], :4]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/10/65/g; s/12/33/g; s/7/50/g' %examples/matmul_t.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry matmul_t --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/matmul_t.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/matmul_t.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 120 of 120 elements compared
// LARGE: check passed: {{[0-9]+}} of 2145 elements compared

// VALUE: 12x10 float32
// VALUE-NEXT: 0 7 14 21
// VALUE-NEXT: 0 77 154 231

// LOOPS: func.func @matmul_t(
// LOOPS-COUNT-3: scf.for
