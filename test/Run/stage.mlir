// Inputs that are staged: without axes, and twice inside of a loop over cores.
// RUN: mdh run %s --entry without_axes --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry staged_again --random 1 --check | FileCheck %s
// CHECK: check  passed: {{.*}} elements compared, no difference

func.func @without_axes(%s: memref<i64>, %y: memref<2xi64>) {
  mdh.compute (i = 2)
    out_view(y = %y[i] : memref<2xi64>)
    md_hom(id, (cc))
    inp_view(s = %s[] : memref<i64>)
    schedule(#mdh.schedule<layers = [main {i: *}], inputs = {s: {stage: {main.i: L2}}}>)
  return
}

// The layout is one of the input's axes; those that the cores add are none of them.
func.func @staged_again(%x: memref<11x33xi64>, %s: memref<11xi64>) {
  mdh.compute (i = 11, j = 33)
    out_view(s = %s[i] : memref<11xi64>)
    md_hom(id, (cc, pw(addi)))
    inp_view(x = %x[i, j] : memref<11x33xi64>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *}, L1 {j: *}, register {j: 8}],
      decompose = {order: [core.i, L2.i, L1.j, register.j]},
      inputs = {x: {stage: {L2.i: L2, L1.j: L1}, layout: {L1.j: padded(0, 0)}}}>)
  return
}
