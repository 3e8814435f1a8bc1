// A thousand consecutive numbers, from -500: 63 for each last digit from c to f and 0 to 3,
// else 62. A larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy i4 "np.arange(-500, 500)"
// RUN: mdh run %examples/histo.mlir --in %t.x.npy --out %t.h.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.h.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/1000/20000/g' %examples/histo.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry histo --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/histo.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/histo.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 16 of 16 elements compared
// LARGE: check passed: {{[0-9]+}} of 16 elements compared

// VALUE: 16 int32
// VALUE-NEXT: 63 63 63 63 62 62 62 62 62 62 62 62 63 63 63 63

// LOOPS: func.func @histo(
// LOOPS-COUNT-2: scf.for
