// Six keys fall into each bin b, with weights of 10 b; sums stop at 255. A larger size, and the
// loops.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.key.npy i4 "np.arange(-30, 30)" \
// RUN:   %t.weight.npy i1 "10 * np.mod(np.arange(-30, 30), 10)"
// RUN: mdh run %examples/genhisto.mlir --in %t.key.npy %t.weight.npy \
// RUN:   --out %t.h.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.h.npy "a.view(np.uint8)" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/60/20000/g' %examples/genhisto.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry genhisto --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/genhisto.mlir --random 1 --check | FileCheck %s
// RUN: mdh run %examples/genhisto.mlir --check-laws
// RUN: mdh compile %examples/genhisto.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 10 of 10 elements compared
// LARGE: check passed: {{[0-9]+}} of 10 elements compared

// VALUE: 10 int8
// VALUE-NEXT: 0 60 120 180 240 255 255 255 255 255

// LOOPS: func.func @genhisto(
// LOOPS-COUNT-2: scf.for
