// A product of conjugates is the same behind linalg: what is raised again keeps the operator, and negates what it
// combines only.
//
// (1 + i)(1 + i)(2 - i)(2 + i)(4 + 7i), each conjugated first, is -70 - 40i.
// RUN: %python %S/Inputs/npy.py save %t.re.npy i8 "[1, 1, 2, 2, 4]" %t.im.npy i8 "[1, 1, -1, 1, 7]"
//
// RUN: mdh-opt %s --mdh-to-linalg -o %t.linalg.mlir
// RUN: FileCheck %s --check-prefix LINALG --input-file %t.linalg.mlir
// LINALG-NOT: mdh.compute
// LINALG:     linalg.generic
// RUN: mdh-opt %t.linalg.mlir --mdh-raise -o %t.again.mlir
// RUN: FileCheck %s --check-prefix AGAIN --input-file %t.again.mlir
// AGAIN:      md_hom
//
// RUN: mdh run %s --in %t.re.npy %t.im.npy --check=all --out %t.r0.npy %t.i0.npy
// RUN: %python %S/Inputs/npy.py show %t.r0.npy a %t.i0.npy a | FileCheck %s
// RUN: mdh run %t.linalg.mlir --in %t.re.npy %t.im.npy --check=all --out %t.r1.npy %t.i1.npy
// RUN: %python %S/Inputs/npy.py show %t.r1.npy a %t.i1.npy a | FileCheck %s
// RUN: mdh run %t.linalg.mlir --in %t.re.npy %t.im.npy --no-raise --out %t.r2.npy %t.i2.npy
// RUN: %python %S/Inputs/npy.py show %t.r2.npy a %t.i2.npy a | FileCheck %s
// RUN: mdh run %t.again.mlir --in %t.re.npy %t.im.npy --check=all --out %t.r3.npy %t.i3.npy
// RUN: %python %S/Inputs/npy.py show %t.r3.npy a %t.i3.npy a | FileCheck %s
// CHECK: scalar int64
// CHECK-NEXT: {{^}}-70
// CHECK: scalar int64
// CHECK-NEXT: {{^}}-40
// REQUIRES: numpy

func.func @product(%re: tensor<5xi64>, %im: tensor<5xi64>) -> (tensor<i64>, tensor<i64>) {
  %e = tensor.empty() : tensor<i64>
  %r, %i = mdh.compute (k = 5)
    out_view(r = %e[] : tensor<i64>, i = %e[] : tensor<i64>)
    md_hom((%a: i64, %b: i64) {
      %zero = arith.constant 0 : i64
      %c = arith.subi %zero, %b : i64
      mdh.yield %a, %c : i64, i64
    }, (pw(times)))
    inp_view(re = %re[k] : tensor<5xi64>, im = %im[k] : tensor<5xi64>)
    combine times associative neutral(1 : i64, 0 : i64) (%a0: i64, %b0: i64, %a1: i64, %b1: i64) {
      %p = arith.muli %a0, %a1 : i64
      %q = arith.muli %b0, %b1 : i64
      %x = arith.subi %p, %q : i64
      %s = arith.muli %a0, %b1 : i64
      %t = arith.muli %b0, %a1 : i64
      %y = arith.addi %s, %t : i64
      mdh.yield %x, %y : i64, i64
    }
  return %r, %i : tensor<i64>, tensor<i64>
}
