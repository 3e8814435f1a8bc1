// A single 5 at [5, 7] becomes a cross of ones; a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.x.npy f4 "5 * (np.arange(165) == 5 * 15 + 7).reshape(11, 15)"
// RUN: mdh run %examples/jacobi2d.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[2:7, 4:9]" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/11x15/101x203/g; s/9x13/99x201/g; s/to 10/to 100/g; s/to 14/to 202/g' \
// RUN:   %examples/jacobi2d.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry jacobi2d --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/jacobi2d.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/jacobi2d.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 117 of 117 elements compared
// LARGE: check passed: {{[0-9]+}} of 19899 elements compared

// VALUE: 9x13 float32
// VALUE-NEXT: 0 0 0 0 0
// VALUE-NEXT: 0 0 1 0 0
// VALUE-NEXT: 0 1 1 1 0
// VALUE-NEXT: 0 0 1 0 0
// VALUE-NEXT: 0 0 0 0 0

// LOOPS: func.func @jacobi2d(
// LOOPS-COUNT-2: scf.for
