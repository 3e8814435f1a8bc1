// A chain of values of which each is used several times, and which is the same for all p: LLVM's vectorizer would
// take years to find that out, and does not end.
//
// RUN: mdh run %s --in n=600 --random 1 --check=all | FileCheck %s
// CHECK: check{{.*}}passed
// RUN: mdh compile %s --emit llvm | FileCheck %s --check-prefix KEPT
// KEPT: llvm.loop.vectorize.enable

func.func @f(%x: memref<8xi64>, %a: memref<600xf64>, %b: memref<600xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant 0 : i64
  %z = arith.constant 0.0 : f64
  %no = arith.constant false
  scf.for %p = %c0 to %n step %c1 {
    %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%f = %z, %g = %none) -> (f64, i64) {
      %q:2 = scf.for %k = %c0 to %c8 step %c1 iter_args(%v0 = %f, %v1 = %g) -> (f64, i64) {
        %v3 = memref.load %x[%k] : memref<8xi64>
        %v2 = arith.sitofp %v3 : i64 to f64
        %v5 = arith.cmpf ult, %v2, %v0 : f64
        %v8 = arith.cmpf ult, %v0, %v2 : f64
        %v10 = arith.cmpi slt, %v1, %v3 : i64
        %v12 = arith.select %v8, %no, %v10 : i1
        %v13 = arith.ori %v5, %v12 : i1
        %v14 = arith.select %v13, %v0, %v2 : f64
        %v15 = arith.select %v13, %v1, %v3 : i64
        scf.yield %v14, %v15 : f64, i64
      }
      scf.yield %q#0, %q#1 : f64, i64
    }
    memref.store %r#0, %a[%p] : memref<600xf64>
    memref.store %r#1, %b[%p] : memref<600xi64>
  }
  return
}
