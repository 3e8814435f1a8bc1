// A generalised histogram: the weights that fall into one bin are combined by an operator of
// one's own, here an addition of unsigned numbers of 8 bits that stops at 255.
//
//   h[b] = sum over i of (weight[i] if b = g(key[i]), else 0)
//          with x + y = min(x + y, 255) and g(key) = key mod 10, from 0 to 9

mdh.combine @saturate commutative associative neutral(0 : i8) (%x: i8, %y: i8) {
  %most = arith.constant 255 : i8
  %sum = arith.addi %x, %y : i8
  // A sum that wrapped around is less than either of its terms.
  %wrapped = arith.cmpi ult, %sum, %x : i8
  %kept = arith.select %wrapped, %most, %sum : i8
  mdh.yield %kept : i8
}

func.func @genhisto(%key: tensor<60xi32>, %weight: tensor<60xi8>) -> tensor<10xi8> {
  %init = tensor.empty() : tensor<10xi8>
  %points = mdh.inp_view (b = 10, i = 60) (%key[i] : tensor<60xi32>, %weight[i] : tensor<60xi8>)
          : !mdh.mda<10x60, i32, i8>
  %sums = mdh.hom((%k: i32, %w: i8) {
      %nothing = arith.constant 0 : i8
      %ten = arith.constant 10 : i32
      // From -9 to 9, then from 1 to 19, then from 0 to 9.
      %signed = arith.remsi %k, %ten : i32
      %positive = arith.addi %signed, %ten : i32
      %modulo = arith.remui %positive, %ten : i32
      %bin = arith.index_cast %modulo : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %value = arith.select %here, %w, %nothing : i8
      mdh.yield %value : i8
  }, (cc, pw(@saturate))) %points : !mdh.mda<10x60, i32, i8> -> !mdh.mda<10x1, i8>
  %h = mdh.out_view (b, i) %sums -> (h = %init[b] : tensor<10xi8>) : !mdh.mda<10x1, i8>
  return %h : tensor<10xi8>
}
