// A value known in closed form, a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(198).reshape(11, 18)"
// RUN: mdh run %examples/transpose.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a[:3, :4]" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/11/101/g; s/18/203/g' %examples/transpose.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry transpose --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/transpose.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/transpose.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 198 of 198 elements compared
// LARGE: check passed: {{[0-9]+}} of 20503 elements compared

// VALUE: 18x11 float32
// VALUE-NEXT: 0 18 36 54
// VALUE-NEXT: 1 19 37 55
// VALUE-NEXT: 2 20 38 56

// LOOPS: func.func @transpose(
// LOOPS-COUNT-2: scf.for
