// Defects of schedules that are known: what is wrong is asserted until it is put right. The random
// schedules (testing/tests/schedules.rs) count the cases that show one of them, and do not fail.
// RUN: not mdh run %s --entry without_axes --random 1 --check 2>&1 | FileCheck %s --check-prefix AXES
// RUN: not mdh run %s --entry two_partials --random 1 --check 2>&1 | FileCheck %s --check-prefix NAMES
// RUN: not mdh run %s --entry two_carries --random 1 --check 2>&1 | FileCheck %s --check-prefix CARRIES
// RUN: not mdh run %s --entry staged_again --random 1 --check 2>&1 | FileCheck %s --check-prefix AGAIN

// FIXME: the copy of an input without axes has no dimensions.
// AXES: error: 'mdh.compute' op has no dimensions: expected at least one
func.func @without_axes(%s: memref<i64>, %y: memref<2xi64>) {
  mdh.compute (i = 2)
    out_view(y = %y[i] : memref<2xi64>)
    md_hom(id, (cc))
    inp_view(s = %s[] : memref<i64>)
    schedule(#mdh.schedule<layers = [main {i: *}], inputs = {s: {stage: {main.i: L2}}}>)
  return
}

// FIXME: partial sums of partial sums have the same names.
// NAMES: error: 'mdh.compute' op names two of its buffers 'partial_0'
func.func @two_partials(%x: memref<64xf32>, %s: memref<f32>) {
  mdh.compute (i = 64)
    out_view(s = %s[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<64xf32>)
    schedule(#mdh.schedule<layers = [core {i: 2}, L1 {i: *}, register {i: 2}, simd {i: 4}],
      decompose = {order: [core.i, L1.i, simd.i, register.i]}>)
  return
}

// FIXME: two carries become carries of the one dimension of the partial sums.
// CARRIES: error: 'mdh.compute' op has two carries for dimension 'part'
func.func @two_carries(%x: memref<4x4xi64>, %c0: memref<i64>, %c1: memref<i64>, %s: memref<i64>) {
  mdh.compute (i = 4, j = 4)
    out_view(s = %s[] : memref<i64>)
    md_hom(id, (pw(addi), pw(addi)))
    inp_view(x = %x[i, j] : memref<4x4xi64>)
    carry i (c0 = %c0[] : memref<i64>)
    carry j (c1 = %c1[] : memref<i64>)
    schedule(#mdh.schedule<layers = [core {i: 2, j: 1}, L2 {i: *, j: *}]>)
  return
}

// FIXME: the layout of a tile that is staged again counts the axes that its cores have.
// AGAIN: error: the result is not what the definition says
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
