// out[p, q] = 15 p + 30 for an image whose rows hold their own numbers, and a filter of ones; a
// larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.image.npy f4 "np.indices((16, 13))[0]" \
// RUN:   %t.filter.npy f4 "np.ones((5, 3))"
// RUN: mdh run %examples/conv2d.mlir --in %t.image.npy %t.filter.npy \
// RUN:   --out %t.out.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.out.npy "a[[0, 1, 11], :3]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/16x13/64x53/g; s/12x11/60x51/g; s/p = 12, q = 11/p = 60, q = 51/' \
// RUN:   %examples/conv2d.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry conv2d --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/conv2d.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/conv2d.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 132 of 132 elements compared
// LARGE: check passed: {{[0-9]+}} of 3060 elements compared

// VALUE: 12x11 float32
// VALUE-NEXT: 30 30 30
// VALUE-NEXT: 45 45 45
// VALUE-NEXT: 195 195 195

// LOOPS: func.func @conv2d(
// LOOPS-COUNT-4: scf.for
