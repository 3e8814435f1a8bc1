// Equal elements share 1, and one that is far larger than the others has all of it. A larger
// size, and the loops: allocated are m and s.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.x.npy f4 "np.concatenate([np.zeros((5, 20)), 1000 * np.eye(20)[3:4]])"
// RUN: mdh run %examples/softmax.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[[0, 5], :5]" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/6x/60x/g; s/i = 6/i = 60/g; s/20/200/g' %examples/softmax.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry softmax --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/softmax.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/softmax.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 120 of 120 elements compared
// LARGE: check passed: {{[0-9]+}} of 12000 elements compared

// VALUE: 6x20 float32
// VALUE-NEXT: 0.05 0.05 0.05 0.05 0.05
// VALUE-NEXT: 0 0 0 1 0

// LOOPS: func.func @softmax(
// LOOPS-COUNT-2: memref.alloc
// LOOPS-COUNT-6: scf.for
