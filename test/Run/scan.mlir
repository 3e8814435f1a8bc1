// A value known in closed form, a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(8)"
// RUN: mdh run %examples/scan.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: mdh run %examples/scan.mlir --size i=100003 --random 1 --range 0.5..1.5 --check \
// RUN:   | FileCheck %s --check-prefix LARGE
// RUN: mdh compile %examples/scan.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 8 of 8 elements compared
// LARGE: check passed: {{[0-9]+}} of 100003 elements compared
// LARGE-NOT: weak

// VALUE: 8 float32
// VALUE-NEXT: 0 1 3 6 10 15 21 28

// LOOPS: func.func @scan(
// LOOPS-COUNT-1: scf.for
