// The row of the real numbers: those from -2 to 0.25 stay inside; and the corner, which is
// outside from the start. A larger size, and the loops.
//
// RUN: mdh run %examples/mandelbrot.mlir --out %t.count.npy --check | FileCheck %s
// RUN: %python %S/Inputs/npy.py show %t.count.npy "np.array([a[10, 0], a[10, 33], a[10, 34] < 50, a[0, 0]])" \
// RUN:   | FileCheck %s --check-prefix VALUE
// RUN: sed 's/21/42/g; s/40/80/g' %examples/mandelbrot.mlir > %t.mlir
// RUN: mdh run %t.mlir --entry mandelbrot --random 1 --check | FileCheck %s --check-prefix LARGE
// RUN: mdh run %examples/mandelbrot.mlir --random 1 --check | FileCheck %s
// RUN: mdh compile %examples/mandelbrot.mlir --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS \
// RUN:   --implicit-check-not scf.for --implicit-check-not memref.alloc

// CHECK: check passed: 840 of 840 elements compared
// LARGE: check passed: {{[0-9]+}} of 3360 elements compared

// VALUE: 21x40 int32
// VALUE-NEXT: 50 50 1 1

// LOOPS: func.func @mandelbrot(
// LOOPS-COUNT-2: scf.for
