// Where the largest element of each row stands, and the element itself. Of equal elements it
// is the first, and NaN counts as larger than every number, as in numpy.
//
//   at[i]      = the smallest j with x[i, j] = max over k of x[i, k]
//   largest[i] = x[i, at[i]]

// The neutral element loses against every element of a row, even against minus infinity.
mdh.combine @larger commutative associative neutral(0xFF800000 : f32, 9223372036854775807 : i64)
    (%x0: f32, %j0: i64, %x1: f32, %j1: i64) {
  %no = arith.constant false
  %number0 = arith.cmpf ord, %x0, %x0 : f32
  %number1 = arith.cmpf ord, %x1, %x1 : f32
  // `ult` is true also if one of them is NaN.
  %x1_above = arith.cmpf ult, %x0, %x1 : f32
  %x0_above = arith.cmpf ult, %x1, %x0 : f32
  %x1_wins = arith.andi %number0, %x1_above : i1
  %x0_wins = arith.andi %number1, %x0_above : i1
  %earlier = arith.cmpi slt, %j0, %j1 : i64
  %x0_first = arith.select %x1_wins, %no, %earlier : i1
  %take0 = arith.ori %x0_wins, %x0_first : i1
  %x = arith.select %take0, %x0, %x1 : f32
  %j = arith.select %take0, %j0, %j1 : i64
  mdh.yield %x, %j : f32, i64
}

func.func @argmax(%x: tensor<7x23xf32>) -> (tensor<7xi64>, tensor<7xf32>) {
  %at_init = tensor.empty() : tensor<7xi64>
  %largest_init = tensor.empty() : tensor<7xf32>
  %points = mdh.inp_view (i = 7, j = 23) (%x[i, j] : tensor<7x23xf32>) : !mdh.mda<7x23, f32>
  %rows = mdh.hom((%x_ij: f32) {
      %index = mdh.index 1 : index
      %j = arith.index_cast %index : index to i64
      mdh.yield %x_ij, %j : f32, i64
  }, (cc, pw(@larger))) %points : !mdh.mda<7x23, f32> -> !mdh.mda<7x1, f32, i64>
  %largest, %at = mdh.out_view (i, j) %rows
      -> (largest = %largest_init[i] : tensor<7xf32>, at = %at_init[i] : tensor<7xi64>)
      : !mdh.mda<7x1, f32, i64>
  return %at, %largest : tensor<7xi64>, tensor<7xf32>
}
