// A value known in closed form, a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.M.npy f4 "[[1, 2, 3], [4, 5, 6]]" \
// RUN:   %t.v.npy f4 "[1, 10, 100]"
// RUN: mdh run %examples/matvec.mlir --in %t.M.npy %t.v.npy \
// RUN:   --out %t.w.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.w.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: mdh run %examples/matvec.mlir --size i=301 k=97 --random 1 --check \
// RUN:   | FileCheck %s --check-prefix LARGE
// RUN: mdh compile %examples/matvec.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 2 of 2 elements compared
// LARGE: check passed: {{[0-9]+}} of 301 elements compared

// VALUE: 2 float32
// VALUE-NEXT: 321 654

// LOOPS: func.func @matvec(
// LOOPS-COUNT-2: scf.for
