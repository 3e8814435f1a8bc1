// Computations that evaluate the same: sizes that are no multiple of a vector, one row, one column,
// several types, sizes at which it stays in caches, or is evaluated again.
//
// RUN: %python %S/Inputs/shared.py 201x1003 f32 > %t.mlir && mdh run %t.mlir --random 1 --range 0.5..1.5 --check | FileCheck %s
// RUN: mdh compile %t.mlir --emit tiles | FileCheck %s --check-prefix ONCE
// RUN: %python %S/Inputs/shared.py 203x1001 f64 > %t.mlir && mdh run %t.mlir --random 2 --range 0.5..1.5 --check | FileCheck %s
// RUN: %python %S/Inputs/shared.py 205x999 bf16 > %t.mlir && mdh run %t.mlir --random 3 --range 0.5..1.5 --check | FileCheck %s
// RUN: %python %S/Inputs/shared.py 1x70001 f32 > %t.mlir && mdh run %t.mlir --random 4 --range 0.5..1.5 --check | FileCheck %s
// RUN: %python %S/Inputs/shared.py 70001x1 f32 > %t.mlir && mdh run %t.mlir --random 5 --range 0.5..1.5 --check | FileCheck %s
// RUN: %python %S/Inputs/shared.py 67x77 f32 > %t.mlir && mdh run %t.mlir --random 6 --range 0.5..1.5 --check | FileCheck %s
// RUN: %python %S/Inputs/shared.py 5x7 f64 > %t.mlir && mdh run %t.mlir --random 7 --range 0.5..1.5 --check-each-step | FileCheck %s
// CHECK: check{{.*}}passed

// ONCE:     math.exp
// ONCE-NOT: math.exp
