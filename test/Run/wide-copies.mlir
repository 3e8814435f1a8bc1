// A nest of its own copies an input whose elements are wider than what the lanes of the schedule are for.
// RUN: mdh run %s --entry wide --random 1 --check | FileCheck %s
// Partial results in an output that has both components, by two accesses.
// RUN: mdh run %s --entry both --random 1 --check | FileCheck %s
// CHECK: check passed

func.func @wide(%x: memref<21xi64>, %y: memref<9x21xf32>) {
  mdh.compute (i = 9, j = 21)
    out_view(y = %y[i, j] : memref<9x21xf32>)
    md_hom((%a: i64) {
      %b = arith.sitofp %a : i64 to f32
      mdh.yield %b : f32
    }, (cc, cc))
    inp_view(x = %x[j] : memref<21xi64>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: *, j: *}, simd {j: 16}],
      decompose = {order: [main.i, main.j, simd.j]}, scalar = {order: [main.j, main.i, simd.j]},
      inputs = {x: {stage: {simd.j: L2}}}>)
  return
}

func.func @both(%re: memref<8xi64>, %im: memref<8xi64>, %z: memref<2xi64>) {
  mdh.compute (i = 8)
    out_view(z = %z[0][1] : memref<2xi64>)
    md_hom(id, (pw(op)))
    inp_view(re = %re[i] : memref<8xi64>, im = %im[i] : memref<8xi64>)
    combine op commutative associative neutral(1 : i64, 0 : i64) (%a: i64, %b: i64, %c: i64, %d: i64) {
      %ac = arith.muli %a, %c : i64
      %bd = arith.muli %b, %d : i64
      %ad = arith.muli %a, %d : i64
      %bc = arith.muli %b, %c : i64
      %real = arith.subi %ac, %bd : i64
      %imaginary = arith.addi %ad, %bc : i64
      mdh.yield %real, %imaginary : i64, i64
    }
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}]>)
  return
}
