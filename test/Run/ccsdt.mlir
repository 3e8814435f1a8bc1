// T[a, b, c, d, e, f] = 5 (100 a + 10 b + d) for A[g, d, a, b] = 100 a + 10 b + d and B = 1; a
// larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.A.npy f4 "np.tensordot([0, 1, 100, 10], np.indices((5, 2, 3, 4)), 1)" \
// RUN:   %t.B.npy f4 "np.ones((3, 4, 5, 2))"
// RUN: mdh run %examples/ccsdt.mlir --in %t.A.npy %t.B.npy \
// RUN:   --out %t.T.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.T.npy "a[1, :, 1, :, 2, 3]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/3x4/6x7/g; s/5x2x6x7/5x2x6x7/g; s/a = 3, b = 4/a = 6, b = 7/; s/e = 3, f = 4/e = 6, f = 7/' \
// RUN:   %examples/ccsdt.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry ccsdt --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/ccsdt.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/ccsdt.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 576 of 576 elements compared
// LARGE: check passed: {{[0-9]+}} of 7056 elements compared

// VALUE: 3x4x2x2x3x4 float32
// VALUE-NEXT: 500 505
// VALUE-NEXT: 550 555
// VALUE-NEXT: 600 605
// VALUE-NEXT: 650 655

// LOOPS: func.func @ccsdt(
// LOOPS-COUNT-7: scf.for
