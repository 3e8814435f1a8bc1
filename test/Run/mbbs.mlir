// The lowest two rows sum up to 27, and the third takes 45 away again; without a positive
// element, the result is 0. A larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.outer([0] * 10 + [-5, 2, 1], np.ones(9))"
// RUN: mdh run %examples/mbbs.mlir --in %t.x.npy --out %t.m.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.m.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/13/301/g; s/12/300/g; s/j = 9/j = 97/g; s/x9/x97/g' \
// RUN:   %examples/mbbs.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry mbbs --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/mbbs.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/mbbs.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 1 of 1 elements compared
// LARGE: check passed: {{[0-9]+}} of 1 elements compared

// VALUE: scalar float32
// VALUE-NEXT: 27

// LOOPS: func.func @mbbs(
// LOOPS-COUNT-1: memref.alloc
// LOOPS-COUNT-3: scf.for
