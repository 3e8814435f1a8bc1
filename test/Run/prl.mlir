// With m = 2/3 and u = 1/3 a field weighs 1 or -1. New record i has i in all fields, and
// existing record j has j mod 9, so that j = i wins over j + 9 of equal weight; half of the
// fields of record 7 are missing, and all of record 8. A larger size, and the loops: allocated
// are the fields' weights.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.n.npy i4 "np.where(np.indices((9, 8))[0] * 8 + np.arange(8) < 60, np.indices((9, 8))[0], -1)" \
// RUN:   %t.e.npy i4 "np.mod(np.indices((25, 8))[0], 9)" \
// RUN:   %t.m.npy f8 "np.full(8, 2 / 3)" \
// RUN:   %t.u.npy f8 "np.full(8, 1 / 3)"
// RUN: mdh run %examples/prl.mlir --in %t.n.npy %t.e.npy %t.m.npy %t.u.npy \
// RUN:   --out %t.match.npy %t.best.npy %t.agreeing.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.match.npy "a" %t.best.npy "a" %t.agreeing.npy "a" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/25/1000/g; s/9x/99x/g; s/i = 9/i = 99/g' %examples/prl.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry prl --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/prl.mlir --random 1 --check | FileCheck %s
// RUN: mdh run %examples/prl.mlir --check-laws
// RUN: mdh run %S/../../scripts/demos/link.mlir --check-laws --size i=3 --size j=3
// RUN: sed 's/{{ i }}/3/g; s/{{ j }}/5/g' %S/../../bench/workloads/prl.mlir > %t.mlir
// RUN: mdh run %t.mlir --check-laws
// RUN: mdh compile %examples/prl.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 27 of 27 elements compared
// LARGE: check passed: {{[0-9]+}} of 297 elements compared

// VALUE: 9 int64
// VALUE-NEXT: 0 1 2 3 4 5 6 7 0
// VALUE-NEXT: 9 float64
// VALUE-NEXT: 8 8 8 8 8 8 8 4 0
// VALUE-NEXT: 9 int32
// VALUE-NEXT: 8 8 8 8 8 8 8 4 0

// LOOPS: func.func @prl(
// LOOPS-COUNT-2: memref.alloc
// LOOPS-COUNT-3: scf.for
