// Values known in closed form, infinities among them; a larger size, and the loop.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.x.npy f4 "[0, np.log(3), -np.log(3), np.inf, -np.inf] + 32 * [0]"
// RUN: mdh run %examples/map.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[:6].round(5)" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/37/10001/g' %examples/map.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry map --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/map.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/map.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 37 of 37 elements compared
// LARGE: check passed: {{[0-9]+}} of 10001 elements compared

// VALUE: 37 float32
// VALUE-NEXT: 0.5 0.75 0.25 1 0 0.5

// LOOPS: func.func @map(
// LOOPS-COUNT-1: scf.for
