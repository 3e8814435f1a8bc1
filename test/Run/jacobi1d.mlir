// y[i - 1] = 3 i^2 + 2 for x[i] = i^2 and c = 1; a larger size, and the loop.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(42) ** 2"
// RUN: mdh run %examples/jacobi1d.mlir --in %t.x.npy 1 --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[[0, 1, 2, 39]]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/40/5000/g; s/41/5001/g; s/42/5002/g' %examples/jacobi1d.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry jacobi1d --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/jacobi1d.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/jacobi1d.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 40 of 40 elements compared
// LARGE: check passed: {{[0-9]+}} of 5000 elements compared

// VALUE: 40 float32
// VALUE-NEXT: 5 14 29 4802

// LOOPS: func.func @jacobi1d(
// LOOPS-COUNT-1: scf.for
