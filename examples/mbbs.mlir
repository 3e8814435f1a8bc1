// The maximum bottom box sum: of all boxes that hold the lowest rows of a matrix, the largest
// sum of elements. The box without rows is one of them, so that the result is at least 0.
//
//   m = max(0, max over r of (sum over i >= r and all j of x[i, j]))
//
// Two homomorphisms, one after the other. The first reads the rows from the bottom up and
// adds within each row (pw) and from row to row (ps), so that its point i is the sum of the
// lowest i + 1 rows. The second takes the largest; max(0, .) of each sum gives the same as of
// the largest one.
func.func @mbbs(%x: tensor<13x9xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %points = mdh.inp_view (i = 13, j = 9) (%x[12 - i, j] : tensor<13x9xf32>)
          : !mdh.mda<13x9, f32>
  %boxes = mdh.hom(id, (ps(addf), pw(addf))) %points : !mdh.mda<13x9, f32> -> !mdh.mda<13x1, f32>
  %best = mdh.hom((%sum: f32) {
      %zero = arith.constant 0.0 : f32
      %positive = arith.maximumf %sum, %zero : f32
      mdh.yield %positive : f32
  }, (pw(maximumf), pw(maximumf))) %boxes : !mdh.mda<13x1, f32> -> !mdh.mda<1x1, f32>
  %m = mdh.out_view (i, j) %best -> (m = %init[] : tensor<f32>) : !mdh.mda<1x1, f32>
  return %m : tensor<f32>
}
