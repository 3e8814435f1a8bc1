// C[i, j] = 64 i j for A[i, k] = i and B[k, j] = j; a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.A.npy f4 "np.indices((64, 64))[0]" \
// RUN:   %t.B.npy f4 "np.indices((64, 64))[1]"
// RUN: mdh run %examples/matmul.mlir --in %t.A.npy %t.B.npy \
// RUN:   --out %t.C.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.C.npy "a[[0, 1, 63], :4]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/64/129/g' %examples/matmul.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry matmul --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/matmul.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/matmul.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 4096 of 4096 elements compared
// LARGE: check passed: {{[0-9]+}} of 16641 elements compared

// VALUE: 64x64 float32
// VALUE-NEXT: 0 0 0 0
// VALUE-NEXT: 0 64 128 192
// VALUE-NEXT: 0 4032 8064 12096

// LOOPS: func.func @matmul(
// LOOPS-COUNT-3: scf.for
