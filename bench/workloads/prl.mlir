// Record linkage: for each new record n[i] the existing record e[j] of the largest weight, that
// weight, and how many of the eight fields agree; examples/prl.mlir has the mathematics.

// Of two matches the heavier one, else the one further up; no number (NaN) is heavier than any, so
// that the order does not matter for any values.
mdh.combine @wins commutative associative
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

// A probability, kept away from 0 and 1.
func.func private @between(%p: f64) -> f64 {
  %low = arith.constant 0x3EB0000000000000 : f64  // 2^-20
  %one = arith.constant 1.0 : f64
  %high = arith.subf %one, %low : f64
  %least = arith.maxnumf %p, %low : f64
  %kept = arith.minnumf %least, %high : f64
  return %kept : f64
}

// Adds one field to the weight and the number of agreeing fields of those before it.
func.func private @field(%w: f64, %a: i32, %n: i32, %e: i32, %agree: f64, %disagree: f64)
    -> (f64, i32) {
  %zero = arith.constant 0 : i32
  %nothing = arith.constant 0.0 : f64
  // A bitwise or is negative if one of its operands is.
  %both = arith.ori %n, %e : i32
  %known = arith.cmpi sge, %both, %zero : i32
  %same = arith.cmpi eq, %n, %e : i32
  %agrees = arith.andi %known, %same : i1
  %verdict = arith.select %same, %agree, %disagree : f64
  %counts = arith.select %known, %verdict, %nothing : f64
  %weight = arith.addf %w, %counts : f64
  %one = arith.extui %agrees : i1 to i32
  %agreeing = arith.addi %a, %one : i32
  return %weight, %agreeing : f64, i32
}

func.func @prl(%n: tensor<{{ i }}x8xi32>, %e: tensor<{{ j }}x8xi32>, %m: tensor<8xf64>, %u: tensor<8xf64>)
    -> (tensor<{{ i }}xi64>, tensor<{{ i }}xf64>, tensor<{{ i }}xi32>) {
  %agree_init = tensor.empty() : tensor<8xf64>
  %disagree_init = tensor.empty() : tensor<8xf64>
  %match_init = tensor.empty() : tensor<{{ i }}xi64>
  %best_init = tensor.empty() : tensor<{{ i }}xf64>
  %agreeing_init = tensor.empty() : tensor<{{ i }}xi32>

  %fields = mdh.inp_view (f = 8) (%m[f] : tensor<8xf64>, %u[f] : tensor<8xf64>)
          : !mdh.mda<8, f64, f64>
  %weights = mdh.hom((%m_f: f64, %u_f: f64) {
      %one = arith.constant 1.0 : f64
      %m_in = func.call @between(%m_f) : (f64) -> f64
      %u_in = func.call @between(%u_f) : (f64) -> f64
      %yes = arith.divf %m_in, %u_in : f64
      %m_out = arith.subf %one, %m_in : f64
      %u_out = arith.subf %one, %u_in : f64
      %no = arith.divf %m_out, %u_out : f64
      %agree_f = math.log2 %yes : f64
      %disagree_f = math.log2 %no : f64
      mdh.yield %agree_f, %disagree_f : f64, f64
  }, (cc)) %fields : !mdh.mda<8, f64, f64> -> !mdh.mda<8, f64, f64>
  %agree, %disagree = mdh.out_view (f) %weights
      -> (agree = %agree_init[f] : tensor<8xf64>, disagree = %disagree_init[f] : tensor<8xf64>)
      : !mdh.mda<8, f64, f64>

  %pairs = mdh.inp_view (i = {{ i }}, j = {{ j }})
      (%n[i, 0][i, 1][i, 2][i, 3][i, 4][i, 5][i, 6][i, 7] : tensor<{{ i }}x8xi32>,
       %e[j, 0][j, 1][j, 2][j, 3][j, 4][j, 5][j, 6][j, 7] : tensor<{{ j }}x8xi32>,
       %agree[0][1][2][3][4][5][6][7] : tensor<8xf64>,
       %disagree[0][1][2][3][4][5][6][7] : tensor<8xf64>)
      : !mdh.mda<{{ i }}x{{ j }}, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
                 f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64>
  %matches = mdh.hom(
      (%n0: i32, %n1: i32, %n2: i32, %n3: i32, %n4: i32, %n5: i32, %n6: i32, %n7: i32,
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
  }, (cc, pw(@wins))) %pairs
      : !mdh.mda<{{ i }}x{{ j }}, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
                 f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64>
      -> !mdh.mda<{{ i }}x1, i64, f64, i32>
  %match, %best, %agreeing = mdh.out_view (i, j) %matches
      -> (match = %match_init[i] : tensor<{{ i }}xi64>,
          best = %best_init[i] : tensor<{{ i }}xf64>,
          agreeing = %agreeing_init[i] : tensor<{{ i }}xi32>)
      : !mdh.mda<{{ i }}x1, i64, f64, i32>
  return %match, %best, %agreeing : tensor<{{ i }}xi64>, tensor<{{ i }}xf64>, tensor<{{ i }}xi32>
}
