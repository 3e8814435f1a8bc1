// A value known in closed form, a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(-500, 500)"
// RUN: mdh run %examples/reduce2.mlir --in %t.x.npy \
// RUN:   --out %t.s.npy %t.m.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.s.npy "a" %t.m.npy "a" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/1000/100003/g' %examples/reduce2.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry reduce2 --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/reduce2.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/reduce2.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 2 of 2 elements compared
// LARGE: check passed: {{[0-9]+}} of 2 elements compared

// VALUE: scalar float32
// VALUE-NEXT: -500
// VALUE-NEXT: scalar float32
// VALUE-NEXT: 499

// LOOPS: func.func @reduce2(
// LOOPS-COUNT-1: scf.for
