// The operator is declared commutative and associative, which subtraction is not: another order gives another
// result.
mdh.combine @minus commutative associative (%a: i32, %b: i32) {
  %c = arith.subi %a, %b : i32
  mdh.yield %c : i32
}

func.func @minus_rows(%M: tensor<2048x1024xi32>) -> tensor<2048xi32> {
  %init = tensor.empty() : tensor<2048xi32>
  %p = mdh.inp_view (i = 2048, k = 1024) (%M[i, k] : tensor<2048x1024xi32>) : !mdh.mda<2048x1024, i32>
  %s = mdh.hom(id, (cc, pw(@minus))) %p : !mdh.mda<2048x1024, i32> -> !mdh.mda<2048x1, i32>
  %w = mdh.out_view (i, k) %s -> (w = %init[i] : tensor<2048xi32>) : !mdh.mda<2048x1, i32>
  return %w : tensor<2048xi32>
}
