// What a program writes besides what it has a schedule for is done in blocks and threads, whose parts of points in
// groups with gaps are whole groups: of 3 points, and of a number that is not known.
//
// RUN: mdh run %s --entry three --device sim --check=all --random 1 --report | FileCheck %s
// RUN: mdh run %s --entry some --device sim --check=all --random 1 --in n=1 --report | FileCheck %s
// CHECK: no mistakes found
// CHECK: check passed

func.func @three(%c: tensor<400xi64>, %x: tensor<400xi64>) -> tensor<400xi64> {
  %e = tensor.empty() : tensor<400xi64>
  %0 = mdh.compute (k = 2, p = 399 step 4 width 3, q = 2)
    out_view(y = %e[p] : tensor<400xi64>)
    md_hom(id, (pw(addi), cc, pw(addi)))
    inp_view(x = %x[p] : tensor<400xi64>)
    carry q (c = %c[p] : tensor<400xi64>)
    schedule(#mdh.schedule<asm = cuda>)
  return %0 : tensor<400xi64>
}

func.func @some(%c: tensor<i64>, %n: index) -> tensor<4x2xi64> {
  %e = tensor.empty() : tensor<4x2xi64>
  %0 = mdh.compute (i = 4, k = 2, p = 2 width %n, q = 2)
    out_view(y = %e[i, p] : tensor<4x2xi64>)
    md_hom(() {
      %v = arith.constant 1 : i64
      mdh.yield %v : i64
    }, (cc, pw(addi), cc, pw(addi)))
    inp_view()
    carry q (c = %c[] : tensor<i64>)
    schedule(#mdh.schedule<asm = cuda>)
  return %0 : tensor<4x2xi64>
}
