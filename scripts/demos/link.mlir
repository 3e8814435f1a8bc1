// Probabilistic record linkage: for each new record i, the known record j that is most likely
// the same person, by Fellegi and Sunter's weights.
//
//   weight[i, j]  = sum over the eight fields f of    0            if n[i, f] or e[j, f] is missing
//                                                     agree[f]     if n[i, f] = e[j, f]
//                                                     disagree[f]  else
//   match[i]      = the j whose weight[i, j] is largest; of equals, the smallest such j
//
// Fields are coded as numbers, the same text by the same number, and missing ones by -1.

// One match is better than another if it weighs more, or as much and stands further up. (Of
// one place there is one match, and of two the one with more agreeing fields; a weight that is no
// number, NaN, is more than any number: so the order does not matter for any values.) The neutral
// element loses against every match.
mdh.combine @better commutative associative
    neutral(9223372036854775807 : i64, 0xFFF0000000000000 : f64, 0 : i32)
    (%j0: i64, %w0: f64, %a0: i32, %j1: i64, %w1: f64, %a1: i32) {
  %no = arith.constant false
  %number0 = arith.cmpf ord, %w0, %w0 : f64
  %number1 = arith.cmpf ord, %w1, %w1 : f64
  %w1_above = arith.cmpf ult, %w0, %w1 : f64
  %w0_above = arith.cmpf ult, %w1, %w0 : f64
  %lighter = arith.andi %number0, %w1_above : i1
  %heavier = arith.andi %number1, %w0_above : i1
  %earlier = arith.cmpi slt, %j0, %j1 : i64
  %same = arith.cmpi eq, %j0, %j1 : i64
  %more = arith.cmpi sge, %a0, %a1 : i32
  %same_more = arith.andi %same, %more : i1
  %before = arith.ori %earlier, %same_more : i1
  %tie = arith.select %lighter, %no, %before : i1
  %first = arith.ori %heavier, %tie : i1
  %j = arith.select %first, %j0, %j1 : i64
  %w = arith.select %first, %w0, %w1 : f64
  %a = arith.select %first, %a0, %a1 : i32
  mdh.yield %j, %w, %a : i64, f64, i32
}

// Adds one field to the weight, and to the number of agreeing fields, of those before it.
func.func private @field(%w: f64, %a: i32, %n: i32, %e: i32, %agree: f64, %disagree: f64)
    -> (f64, i32) {
  %zero = arith.constant 0 : i32
  %nothing = arith.constant 0.0 : f64
  // Only the code for missing is negative, and so is a bitwise or with it.
  %both = arith.ori %n, %e : i32
  %known = arith.cmpi sge, %both, %zero : i32
  %same = arith.cmpi eq, %n, %e : i32
  %verdict = arith.select %same, %agree, %disagree : f64
  %counts = arith.select %known, %verdict, %nothing : f64
  %weight = arith.addf %w, %counts : f64
  %agrees = arith.andi %known, %same : i1
  %one = arith.extui %agrees : i1 to i32
  %agreeing = arith.addi %a, %one : i32
  return %weight, %agreeing : f64, i32
}

func.func @link(%n: tensor<?x8xi32>, %e: tensor<?x8xi32>, %agree: tensor<8xf64>, %disagree: tensor<8xf64>)
    -> (tensor<?xi64>, tensor<?xf64>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %new = tensor.dim %n, %c0 : tensor<?x8xi32>
  %known = tensor.dim %e, %c0 : tensor<?x8xi32>
  %match_init = tensor.empty(%new) : tensor<?xi64>
  %weight_init = tensor.empty(%new) : tensor<?xf64>
  %agreeing_init = tensor.empty(%new) : tensor<?xi32>

  %pairs = mdh.inp_view (i = %new, j = %known)
      (%n[i, 0][i, 1][i, 2][i, 3][i, 4][i, 5][i, 6][i, 7] : tensor<?x8xi32>,
       %e[j, 0][j, 1][j, 2][j, 3][j, 4][j, 5][j, 6][j, 7] : tensor<?x8xi32>,
       %agree[0][1][2][3][4][5][6][7] : tensor<8xf64>,
       %disagree[0][1][2][3][4][5][6][7] : tensor<8xf64>)
      : !mdh.mda<?x?, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
                 f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64>
  %best = mdh.hom((%n0: i32, %n1: i32, %n2: i32, %n3: i32, %n4: i32, %n5: i32, %n6: i32, %n7: i32,
                   %e0: i32, %e1: i32, %e2: i32, %e3: i32, %e4: i32, %e5: i32, %e6: i32, %e7: i32,
                   %p0: f64, %p1: f64, %p2: f64, %p3: f64, %p4: f64, %p5: f64, %p6: f64, %p7: f64,
                   %q0: f64, %q1: f64, %q2: f64, %q3: f64, %q4: f64, %q5: f64, %q6: f64, %q7: f64) {
      %w = arith.constant 0.0 : f64
      %a = arith.constant 0 : i32
      %w0, %a0 = func.call @field(%w, %a, %n0, %e0, %p0, %q0) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w1, %a1 = func.call @field(%w0, %a0, %n1, %e1, %p1, %q1) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w2, %a2 = func.call @field(%w1, %a1, %n2, %e2, %p2, %q2) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w3, %a3 = func.call @field(%w2, %a2, %n3, %e3, %p3, %q3) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w4, %a4 = func.call @field(%w3, %a3, %n4, %e4, %p4, %q4) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w5, %a5 = func.call @field(%w4, %a4, %n5, %e5, %p5, %q5) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w6, %a6 = func.call @field(%w5, %a5, %n6, %e6, %p6, %q6) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %w7, %a7 = func.call @field(%w6, %a6, %n7, %e7, %p7, %q7) : (f64, i32, i32, i32, f64, f64) -> (f64, i32)
      %index = mdh.index 1 : index
      %j = arith.index_cast %index : index to i64
      mdh.yield %j, %w7, %a7 : i64, f64, i32
  }, (cc, pw(@better))) %pairs
      : !mdh.mda<?x?, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
                 f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64>
      -> !mdh.mda<?x1, i64, f64, i32>
  %match, %weight, %agreeing = mdh.out_view (i, j) %best
      -> (match = %match_init[i] : tensor<?xi64>,
          weight = %weight_init[i] : tensor<?xf64>,
          agreeing = %agreeing_init[i] : tensor<?xi32>)
      : !mdh.mda<?x1, i64, f64, i32>
  return %match, %weight, %agreeing : tensor<?xi64>, tensor<?xf64>, tensor<?xi32>
}
