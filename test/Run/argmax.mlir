// The last, the first, the first of equal ones, NaN. A larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.x.npy f4 "[np.arange(23), -np.arange(23), 23 * [7], 5 * [0] + 2 * [np.nan] + 16 * [9], 23 * [-np.inf], np.zeros(23), np.ones(23)]"
// RUN: mdh run %examples/argmax.mlir --in %t.x.npy \
// RUN:   --out %t.at.npy %t.largest.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.at.npy "a" %t.largest.npy "a" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/7x/70x/g; s/i = 7/i = 70/; s/x23/x230/g; s/j = 23/j = 230/' \
// RUN:   %examples/argmax.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry argmax --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/argmax.mlir --random 1 --check | FileCheck %s
// RUN: mdh run %examples/argmax.mlir --check-laws
// RUN: mdh compile %examples/argmax.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 14 of 14 elements compared
// LARGE: check passed: {{[0-9]+}} of 140 elements compared

// VALUE: 7 int64
// VALUE-NEXT: 22 0 0 5 0 0 0
// VALUE-NEXT: 7 float32
// VALUE-NEXT: 22 0 7 nan -inf 0 1

// LOOPS: func.func @argmax(
// LOOPS-COUNT-2: scf.for
