// 2^24 and 999 ones, which a sum in 32 bits would lose one by one; of two equally near numbers,
// the even one is the result. A larger size, and the loop.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "[2 ** 24] + 999 * [1]"
// RUN: mdh run %examples/reduce.mlir --in %t.x.npy --out %t.s.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.s.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/1000/100003/g' %examples/reduce.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry reduce --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/reduce.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/reduce.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 1 of 1 elements compared
// LARGE: check passed: {{[0-9]+}} of 1 elements compared

// VALUE: scalar float32
// VALUE-NEXT: 1.677822e+07

// LOOPS: func.func @reduce(
// LOOPS-COUNT-1: scf.for
