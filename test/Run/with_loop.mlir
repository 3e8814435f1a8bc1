// The paper's picture, with the later partitions where they overlap; a larger size, and the loops.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy i4 "-np.arange(81).reshape(9, 9)"
// RUN: mdh run %examples/with_loop.mlir --in %t.x.npy --out %t.a.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/9x9/369x369/g; s/5x5/185x246/g; s/= 9/= 369/g; s/to 8/to 369/g' %examples/with_loop.mlir \
// RUN:   | sed '/columns/,$ s/185x246/246x185/g' > %t.mlir
// RUN: mdh run %t.mlir --entry with_loop --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %t.mlir --entry with_loop --random 1 --check --device sim | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/with_loop.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/with_loop.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not memref.alloc

// CHECK: check passed: 81 of 81 elements compared
// LARGE: check passed: {{[0-9]+}} of 136161 elements compared

// VALUE: 9x9 int32
// VALUE-NEXT: 0 3 3 -3 3 3 -6 3 -8
// VALUE-NEXT: 7 -10 7 -12 7 -14 7 -16 7
// VALUE-NEXT: 7 3 7 -21 7 3 7 3 7
// VALUE-NEXT: -27 -28 -29 -21 -22 -23 -33 -34 -35
// VALUE-NEXT: 7 3 7 -30 -31 -32 7 3 7
// VALUE-NEXT: 7 -46 7 -39 -40 -41 7 -52 7
// VALUE-NEXT: -54 3 3 -57 3 3 -60 3 -62
// VALUE-NEXT: 7 -64 7 -66 7 -68 7 -70 7
// VALUE-NEXT: -72 3 3 -75 3 3 -78 3 -80

// LOOPS: func.func @with_loop(
// LOOPS: memref.copy
// LOOPS-COUNT-6: scf.for
