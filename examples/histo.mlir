// A histogram: how many numbers end in each of the 16 hexadecimal digits.
//
//   h[b] = sum over i of (1 if b = g(x[i]), else 0)      with g(x) = the last four bits of x
//
// Written so, every number is held against every bin; each falls into exactly one.
func.func @histo(%x: tensor<1000xi32>) -> tensor<16xi32> {
  %init = tensor.empty() : tensor<16xi32>
  %points = mdh.inp_view (b = 16, i = 1000) (%x[i] : tensor<1000xi32>) : !mdh.mda<16x1000, i32>
  %counts = mdh.hom((%x_i: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %mask = arith.constant 15 : i32
      %bits = arith.andi %x_i, %mask : i32
      %bin = arith.index_cast %bits : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
  }, (cc, pw(addi))) %points : !mdh.mda<16x1000, i32> -> !mdh.mda<16x1, i32>
  %h = mdh.out_view (b, i) %counts -> (h = %init[b] : tensor<16xi32>) : !mdh.mda<16x1, i32>
  return %h : tensor<16xi32>
}
