// y[i, j] = (i + 1) (j + 1) for ones. A larger size, and the loops: allocated is one row, for
// what is above.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy i4 "np.ones((9, 14))"
// RUN: mdh run %examples/sat.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[[0, 1, 8], :5]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/9x/99x/g; s/i = 9/i = 99/; s/14/140/g' %examples/sat.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry sat --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/sat.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/sat.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 126 of 126 elements compared
// LARGE: check passed: {{[0-9]+}} of 13860 elements compared

// VALUE: 9x14 int64
// VALUE-NEXT: 1 2 3 4 5
// VALUE-NEXT: 2 4 6 8 10
// VALUE-NEXT: 9 18 27 36 45

// LOOPS: func.func @sat(
// LOOPS-COUNT-1: memref.alloc
// LOOPS-COUNT-2: scf.for
