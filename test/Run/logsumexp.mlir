// Of n equal x it is x + log(n), however large x is. A larger size, and the loops: allocated
// are m and s.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.x.npy f4 "np.outer([0, 1, 100, 10000, -10000, 3], np.ones(17))"
// RUN: mdh run %examples/logsumexp.mlir --in %t.x.npy --out %t.y.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix VALUE
// RUN: sed 's/6x/60x/g; s/i = 6/i = 60/; s/17/170/g' %examples/logsumexp.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry logsumexp --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/logsumexp.mlir --random 1 --check | FileCheck %s
// RUN: mdh run %examples/logsumexp.mlir --check-laws
// RUN: mdh compile %examples/logsumexp.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 6 of 6 elements compared
// LARGE: check passed: {{[0-9]+}} of 60 elements compared

// VALUE: 6 float32
// VALUE-NEXT: 2.833213 3.833213 102.8332 10002.83 -9997.167 5.833213

// LOOPS: func.func @logsumexp(
// LOOPS-COUNT-1: memref.alloc
// LOOPS-COUNT-3: scf.for
