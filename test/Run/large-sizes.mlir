// A size of more bytes than can be addressed is an error wherever memory is allocated: products of extents do not wrap.
//
// RUN: mdh run %s --entry sums --in n=3 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
// PASSED: check  passed
//
// Before it is called (exit code 4: driver/tests/cli/memory.rs):
// RUN: not mdh run %s --entry sums --in n=2147483648 2>&1 | FileCheck %s
// CHECK: large-sizes.mlir:[[#]]:8: error: 'tensor.empty' op a tensor of 2147483648x2147483648 f64 has 36893488147419103232 bytes: expected fewer than 2^63
//
// As a C function, which checks itself: status 4. Modulo 2^64 the bytes of 2^31 x 2^31 doubles are 64 with what aligns them,
// and those of 2^61 - 8 doubles none. What is empty needs no memory, however large its rows are.
// RUN: mdh compile %s --emit shared -o %t.so 2> /dev/null
// RUN: %python %S/Inputs/statuses.py %t.so sums "3" "2**31" "2**31 - 1" "2**32" "2**62" | FileCheck %s --check-prefix SUMS
// SUMS: [0, 4, 4, 4, 4] 36.0
// RUN: %python %S/Inputs/statuses.py %t.so row "3" "2**61 - 8" "2**61" "2**62 + 1" | FileCheck %s --check-prefix ROW
// ROW: [0, 4, 4, 4] 6.0
// RUN: %python %S/Inputs/statuses.py %t.so box "2, 0" "0, 2**60" "2**40, 2**30" | FileCheck %s --check-prefix BOX
// BOX: [0, 0, 4] 0.0

func.func @sums(%n: index) -> tensor<f64> {
  %e = tensor.empty(%n, %n) : tensor<?x?xf64>
  %r = mdh.compute (i = %n, j = %n)
    out_view(o = %e[i, j] : tensor<?x?xf64>)
    md_hom(() {
      %c = arith.constant 1.0 : f64
      mdh.yield %c : f64
    }, (ps(addf), ps(addf)))
    inp_view()
  %y = tensor.empty() : tensor<f64>
  %t = mdh.compute (i = %n, j = %n)
    out_view(t = %y[] : tensor<f64>)
    md_hom(id, (pw(addf), pw(addf)))
    inp_view(r = %r[i, j] : tensor<?x?xf64>)
  return %t : tensor<f64>
}

func.func @row(%n: index) -> tensor<f64> {
  %e = tensor.empty(%n) : tensor<?xf64>
  %r = mdh.compute (i = %n)
    out_view(o = %e[i] : tensor<?xf64>)
    md_hom(() {
      %c = arith.constant 1.0 : f64
      mdh.yield %c : f64
    }, (ps(addf)))
    inp_view()
  %y = tensor.empty() : tensor<f64>
  %t = mdh.compute (i = %n)
    out_view(t = %y[] : tensor<f64>)
    md_hom(id, (pw(addf)))
    inp_view(r = %r[i] : tensor<?xf64>)
  return %t : tensor<f64>
}

func.func @box(%m: index, %n: index) -> tensor<f64> {
  %e = tensor.empty(%m, %m, %n) : tensor<?x?x?xf64>
  %r = mdh.compute (i = %m, j = %m, k = %n)
    out_view(o = %e[i, j, k] : tensor<?x?x?xf64>)
    md_hom(() {
      %c = arith.constant 1.0 : f64
      mdh.yield %c : f64
    }, (cc, cc, ps(addf)))
    inp_view()
  %y = tensor.empty() : tensor<f64>
  %t = mdh.compute (i = %m, j = %m, k = %n)
    out_view(t = %y[] : tensor<f64>)
    md_hom(id, (pw(addf), pw(addf), pw(addf)))
    inp_view(r = %r[i, j, k] : tensor<?x?x?xf64>)
  return %t : tensor<f64>
}
