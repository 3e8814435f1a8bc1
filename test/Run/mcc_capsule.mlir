// out[n, p, q, k, u, v] = 36 (6 p + 3) (u + 1) (v + 1) for images of h (u + 1), where h is the
// number of the row, and filters of v + 1; a larger size, and the loops (of one image, so that
// there is none over n).
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.image.npy f4 "np.indices((1, 7, 5, 3, 4, 4))[1] * (np.indices((1, 7, 5, 3, 4, 4))[4] + 1)" \
// RUN:   %t.filter.npy f4 "np.indices((2, 3, 3, 3, 4, 4))[5] + 1"
// RUN: mdh run %examples/mcc_capsule.mlir --in %t.image.npy %t.filter.npy \
// RUN:   --out %t.out.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.out.npy "a[0, [0, 2], 1, 1, 2]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/1x7x5/2x7x5/g; s/1x3x2/2x3x2/g; s/n = 1/n = 2/' \
// RUN:   %examples/mcc_capsule.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry mcc_capsule --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/mcc_capsule.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/mcc_capsule.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 192 of 192 elements compared
// LARGE: check passed: {{[0-9]+}} of 384 elements compared

// VALUE: 1x3x2x2x4x4 float32
// VALUE-NEXT: 324 648 972 1296
// VALUE-NEXT: 1620 3240 4860 6480

// LOOPS: func.func @mcc_capsule(
// LOOPS-COUNT-9: scf.for
