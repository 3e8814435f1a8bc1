// Steps behind integers are read as they are: what makes integers was run on blocks, too, where branches kept indices.
//
// RUN: mdh run %s --random 0 --check=exact --check-each-step | FileCheck %s
// CHECK: check passed: 1602 of 1602 elements compared, no difference
func.func @blocks(%x0: tensor<88x1xi64>, %x1: tensor<6x27xindex>, %x2: tensor<13x77x5xindex>) -> (tensor<3x3x89x2xindex>) {
  %e0 = tensor.empty() : tensor<3x3x89x2xindex>
  %r0 = mdh.compute (i = -8 to -7 step 2 width 2, j = 12 step 3, p = -5 to -2, r = 30 step 2 width 2)
    out_view(_, %e0[i, p, 3 * r + 1, 1] origin(-8, -5, 0, 0) : tensor<3x3x89x2xindex>)
    md_hom((%v0: i64, %v1: index, %v2: index) {
      %v3 = arith.trunci %v0 : i64 to i1
      %v4 = arith.extui %v3 : i1 to i32
      %v5 = arith.constant 5 : i32
      %v6 = arith.remui %v4, %v5 : i32
      %v7 = arith.constant 0 : i32
      %v8 = arith.constant 2 : i32
      %v9 = arith.extui %v3 : i1 to i64
      %v13 = scf.for %v10 = %v7 to %v6 step %v8 iter_args(%v11 = %v9) -> (i64)  : i32 {
        %v12 = arith.muli %v11, %v11 : i64
        scf.yield %v12 : i64
      }
      mdh.yield %v1, %v2 : index, index
    }, (cc, pw(op), cc, cc))
    inp_view(%x0[3 * r - 3, i - 3] origin(-3, -11) pad(-6 : i64) : tensor<88x1xi64>, %x1[j, r] origin(0, 3) pad(-5 : index) : tensor<6x27xindex>, %x2[j + 3, 2 * r + 2 * j, (j + 3 * r) mod 5] : tensor<13x77x5xindex>)
    combine op associative neutral(1 : index, 0 : index) (%v0: index, %v1: index, %v2: index, %v3: index) {
      %v4 = arith.muli %v0, %v2 : index
      %v5 = arith.muli %v2, %v1 : index
      %v6 = arith.addi %v5, %v3 : index
      mdh.yield %v4, %v6 : index, index
    }
  return %r0 : tensor<3x3x89x2xindex>
}
