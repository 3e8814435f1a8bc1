// A with-loop of SAC with three partitions over a default array, the paper's one with a third:
//
//   a = with {
//     ([0,1] <= iv < [9,8] step [2,3] width [1,2]) : 3;
//     ([1,0] <= iv < [8,9] step [3,2] width [2,1]) : 7;
//     ([3,3] <= [i,j] < [6,6])                     : max(x[i-1,j], x[i+1,j]);
//   } : modarray(x);
//
// Each partition is a domain with bounds, steps and widths, which writes its points of the array
// that the one before it has left. So the later one wins where they overlap, and what none of them
// has keeps the value of the default array (GPU index mapping, section 1.1).
func.func @with_loop(%x: tensor<9x9xi32>) -> tensor<9x9xi32> {
  %rows = mdh.inp_view (i = 9 step 2, j = 1 to 8 step 3 width 2) () : !mdh.mda<5x5>
  %threes = mdh.hom(() {
      %three = arith.constant 3 : i32
      mdh.yield %three : i32
  }, (cc, cc)) %rows : !mdh.mda<5x5> -> !mdh.mda<5x5, i32>
  %a = mdh.out_view (i, j) %threes -> (a = %x[i, j] : tensor<9x9xi32>) : !mdh.mda<5x5, i32>

  %columns = mdh.inp_view (i = 1 to 8 step 3 width 2, j = 9 step 2) () : !mdh.mda<5x5>
  %sevens = mdh.hom(() {
      %seven = arith.constant 7 : i32
      mdh.yield %seven : i32
  }, (cc, cc)) %columns : !mdh.mda<5x5> -> !mdh.mda<5x5, i32>
  %b = mdh.out_view (i, j) %sevens -> (b = %a[i, j] : tensor<9x9xi32>) : !mdh.mda<5x5, i32>

  %inner = mdh.inp_view (i = 3 to 6, j = 3 to 6) (%x[i - 1, j][i + 1, j] : tensor<9x9xi32>)
         : !mdh.mda<3x3, i32, i32>
  %largest = mdh.hom(maxsi, (cc, cc)) %inner : !mdh.mda<3x3, i32, i32> -> !mdh.mda<3x3, i32>
  %c = mdh.out_view (i, j) %largest -> (c = %b[i, j] : tensor<9x9xi32>) : !mdh.mda<3x3, i32>
  return %c : tensor<9x9xi32>
}
