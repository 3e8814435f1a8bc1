// The Mandelbrot set: how many steps of z <- z^2 + c it takes to leave the circle of radius 2,
// starting from z = 0; 50 if it is still inside after so many. The points c lie in a grid of
// 21 rows and 40 columns over the complex numbers from -2 - i to 0.6 + i.
//
//   c          = (-2 + x / 15) + (-1 + y / 10) i
//   count[y,x] = the least n < 50 with |z_n| > 2, else 50       where z_0 = 0, z_n+1 = z_n^2 + c
//
// There is no input: the scalar function uses the point's indices alone.
func.func @mandelbrot() -> tensor<21x40xi32> {
  %init = tensor.empty() : tensor<21x40xi32>
  %points = mdh.inp_view (y = 21, x = 40) () : !mdh.mda<21x40>
  %counts = mdh.hom(() {
      %zero = arith.constant 0.0 : f64
      %four = arith.constant 4.0 : f64
      %left = arith.constant -2.0 : f64
      %top = arith.constant -1.0 : f64
      %per_column = arith.constant 15.0 : f64
      %per_row = arith.constant 10.0 : f64
      %none = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %most = arith.constant 50 : i32
      %y = mdh.index 0 : index
      %x = mdh.index 1 : index
      %row = arith.index_cast %y : index to i32
      %column = arith.index_cast %x : index to i32
      %row_f = arith.sitofp %row : i32 to f64
      %column_f = arith.sitofp %column : i32 to f64
      %dx = arith.divf %column_f, %per_column : f64
      %dy = arith.divf %row_f, %per_row : f64
      %c_re = arith.addf %left, %dx : f64
      %c_im = arith.addf %top, %dy : f64
      %re, %im, %n = scf.while (%z_re = %zero, %z_im = %zero, %k = %none)
          : (f64, f64, i32) -> (f64, f64, i32) {
        %re2 = arith.mulf %z_re, %z_re : f64
        %im2 = arith.mulf %z_im, %z_im : f64
        %abs2 = arith.addf %re2, %im2 : f64
        %inside = arith.cmpf ole, %abs2, %four : f64
        %more = arith.cmpi slt, %k, %most : i32
        %continue = arith.andi %inside, %more : i1
        scf.condition(%continue) %z_re, %z_im, %k : f64, f64, i32
      } do {
      ^bb0(%z_re: f64, %z_im: f64, %k: i32):
        %re2 = arith.mulf %z_re, %z_re : f64
        %im2 = arith.mulf %z_im, %z_im : f64
        %cross = arith.mulf %z_re, %z_im : f64
        %difference = arith.subf %re2, %im2 : f64
        %twice = arith.addf %cross, %cross : f64
        %next_re = arith.addf %difference, %c_re : f64
        %next_im = arith.addf %twice, %c_im : f64
        %next_k = arith.addi %k, %one : i32
        scf.yield %next_re, %next_im, %next_k : f64, f64, i32
      }
      mdh.yield %n : i32
  }, (cc, cc)) %points : !mdh.mda<21x40> -> !mdh.mda<21x40, i32>
  %count = mdh.out_view (y, x) %counts -> (count = %init[y, x] : tensor<21x40xi32>)
      : !mdh.mda<21x40, i32>
  return %count : tensor<21x40xi32>
}
