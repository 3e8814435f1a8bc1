// With fewer levels the rest of the schedule stays.
// RUN: mdh-opt %s --mdh-tile=levels=1 --canonicalize --cse | FileCheck %s
// CHECK-LABEL: func.func @rows
// CHECK:       scf.forall
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    arith.minsi
// CHECK-NEXT:    mdh.compute (i = %{{.*}} to %{{.*}}, j = 64)
// CHECK:           layers = [L1 {i: 64, j: 1}, register {i: 8, j: 64}]
func.func @rows(%x: memref<1021x64xf32>, %v: memref<64xf32>, %y: memref<1021xf32>) {
  mdh.compute (i = 1021, j = 64)
      out_view(y = %y[i] : memref<1021xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(x = %x[i, j] : memref<1021x64xf32>, v = %v[j] : memref<64xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *}, register {i: 8, j: 64}],
        decompose = {order: [core.i, L1.i, register.j, register.i]}>)
  return
}
