// Sums of sizes that only a run knows, whose unrolled parts are all that a loop has: they are
// combined after the loops around them.
// RUN: mdh run %s --random 1 --size i=16 --size j=40 --range 0.5..1.5 --check | FileCheck %s
// RUN: mdh run %s --random 2 --size i=3 --size j=4100 --range 0.5..1.5 --check | FileCheck %s
// RUN: mdh run %s --random 2 --size i=1 --size j=1 --range 0.5..1.5 --check | FileCheck %s
// CHECK: check{{.*}}passed
// CHECK-NOT: weak

func.func @f(%A: tensor<17x16x?xf32>, %B: tensor<17x12xf32>, %y: tensor<17xf32>, %n0: index, %n1: index) -> tensor<17xf32> {
  %r = mdh.compute (i = %n0, j = %n1, l = 17, m = 12)
    out_view(y = %y[l] : tensor<17xf32>)
    md_hom(mulf, (pw(addf), pw(addf), cc, pw(addf)))
    inp_view(A = %A[l, i, j] : tensor<17x16x?xf32>, B = %B[l, m] : tensor<17x12xf32>)
  return %r : tensor<17xf32>
}
