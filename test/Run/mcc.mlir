// out[n, p, q, k] = (72 p + 36) (k + 1) for images whose rows hold their own numbers, and
// filters of k + 1; a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.image.npy f4 "np.indices((2, 11, 10, 3))[1]" \
// RUN:   %t.filter.npy f4 "np.indices((5, 3, 4, 3))[0] + 1"
// RUN: mdh run %examples/mcc.mlir --in %t.image.npy %t.filter.npy \
// RUN:   --out %t.out.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.out.npy "a[1, [0, 1, 4], 3]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/2x11x10x3/2x23x10x3/g; s/2x5x4/2x11x4/g; s/p = 5/p = 11/' \
// RUN:   %examples/mcc.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry mcc --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/mcc.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/mcc.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 200 of 200 elements compared
// LARGE: check passed: {{[0-9]+}} of 440 elements compared

// VALUE: 2x5x4x5 float32
// VALUE-NEXT: 36 72 108 144 180
// VALUE-NEXT: 108 216 324 432 540
// VALUE-NEXT: 324 648 972 1296 1620

// LOOPS: func.func @mcc(
// LOOPS-COUNT-7: scf.for
