// The logarithm of the sum of the exponentials of each row, without overflow: exponentials
// are taken of differences to the largest element only.
//
//   y[i] = log(sum over j of exp(x[i, j]))
//
// A part of a row is summed up as a pair (m, s): its largest element, and the sum of
// exp(x[i, j] - m). One element is (x[i, j], 1), nothing is (-inf, 0), and two parts make
//
//   (m0, s0) + (m1, s1) = (m, s0 * exp(m0 - m) + s1 * exp(m1 - m))     with m = max(m0, m1).
//
// A second homomorphism makes y[i] = m + log(s) of a row's pair.

mdh.combine @join commutative associative neutral(0xFF800000 : f32, 0.0 : f32)
    (%m0: f32, %s0: f32, %m1: f32, %s1: f32) {
  %zero = arith.constant 0.0 : f32
  %m = arith.maximumf %m0, %m1 : f32
  // Of two infinities, the difference would be NaN.
  %same0 = arith.cmpf oeq, %m0, %m : f32
  %same1 = arith.cmpf oeq, %m1, %m : f32
  %less0 = arith.subf %m0, %m : f32
  %less1 = arith.subf %m1, %m : f32
  %by0 = arith.select %same0, %zero, %less0 : f32
  %by1 = arith.select %same1, %zero, %less1 : f32
  %exp0 = math.exp %by0 : f32
  %exp1 = math.exp %by1 : f32
  %part0 = arith.mulf %s0, %exp0 : f32
  %part1 = arith.mulf %s1, %exp1 : f32
  %s = arith.addf %part0, %part1 : f32
  mdh.yield %m, %s : f32, f32
}

func.func @logsumexp(%x: tensor<6x17xf32>) -> tensor<6xf32> {
  %init = tensor.empty() : tensor<6xf32>
  %points = mdh.inp_view (i = 6, j = 17) (%x[i, j] : tensor<6x17xf32>) : !mdh.mda<6x17, f32>
  %pairs = mdh.hom((%x_ij: f32) {
      %one = arith.constant 1.0 : f32
      mdh.yield %x_ij, %one : f32, f32
  }, (cc, pw(@join))) %points : !mdh.mda<6x17, f32> -> !mdh.mda<6x1, f32, f32>
  %logs = mdh.hom((%m: f32, %s: f32) {
      %log = math.log %s : f32
      %y = arith.addf %m, %log : f32
      mdh.yield %y : f32
  }, (cc, cc)) %pairs : !mdh.mda<6x1, f32, f32> -> !mdh.mda<6x1, f32>
  %y = mdh.out_view (i, j) %logs -> (y = %init[i] : tensor<6xf32>) : !mdh.mda<6x1, f32>
  return %y : tensor<6xf32>
}
