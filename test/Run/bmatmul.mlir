// C[b, i, j] = 4 (b + 1) j for A[b, i, k] = b + 1 and B[b, k, j] = j; a larger size, and the
// loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.A.npy f4 "np.indices((3, 5, 4))[0] + 1" \
// RUN:   %t.B.npy f4 "np.indices((3, 4, 7))[2]"
// RUN: mdh run %examples/bmatmul.mlir --in %t.A.npy %t.B.npy \
// RUN:   --out %t.C.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.C.npy "a[:, 0]" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/3x5/6x20/g; s/5x7/20x7/g; s/b = 3, i = 5/b = 6, i = 20/; s/3x4/6x4/g' \
// RUN:   %examples/bmatmul.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry bmatmul --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/bmatmul.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/bmatmul.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 105 of 105 elements compared
// LARGE: check passed: {{[0-9]+}} of 840 elements compared

// VALUE: 3x5x7 float32
// VALUE-NEXT: 0 4 8 12 16 20 24
// VALUE-NEXT: 0 8 16 24 32 40 48
// VALUE-NEXT: 0 12 24 36 48 60 72

// LOOPS: func.func @bmatmul(
// LOOPS-COUNT-4: scf.for
