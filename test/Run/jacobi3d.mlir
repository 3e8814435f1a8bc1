// A single 7 at [3, 4, 5] becomes a cross of ones; a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.x.npy f4 "7 * (np.arange(693) == 3 * 99 + 4 * 11 + 5).reshape(7, 9, 11)"
// RUN: mdh run %examples/jacobi3d.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[1:4, 2:5, 3:6]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/7x9x11/31x29x27/g; s/5x7x9/29x27x25/g; s/to 6/to 30/g; s/to 8/to 28/g; s/to 10/to 26/g' \
// RUN:   %examples/jacobi3d.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry jacobi3d --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/jacobi3d.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/jacobi3d.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 315 of 315 elements compared
// LARGE: check passed: {{[0-9]+}} of 19575 elements compared

// VALUE: 5x7x9 float32
// VALUE-NEXT: 0 0 0
// VALUE-NEXT: 0 1 0
// VALUE-NEXT: 0 0 0
// VALUE-NEXT: 0 1 0
// VALUE-NEXT: 1 1 1
// VALUE-NEXT: 0 1 0
// VALUE-NEXT: 0 0 0
// VALUE-NEXT: 0 1 0
// VALUE-NEXT: 0 0 0

// LOOPS: func.func @jacobi3d(
// LOOPS-COUNT-3: scf.for
