// A value known in closed form, a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(10)" %t.y.npy f4 "np.ones(10)"
// RUN: mdh run %examples/dot.mlir --in %t.x.npy %t.y.npy --out %t.s.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.s.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: mdh run %examples/dot.mlir --size i=100003 --random 1 --range 0.5..1.5 --check \
// RUN:   | FileCheck %s --check-prefix LARGE
// RUN: mdh compile %examples/dot.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 1 of 1 elements compared
// LARGE: check passed: {{[0-9]+}} of 1 elements compared
// LARGE-NOT: weak

// VALUE: scalar float32
// VALUE-NEXT: 45

// LOOPS: func.func @dot(
// LOOPS-COUNT-1: scf.for
