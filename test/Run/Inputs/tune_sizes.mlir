// Programs of open sizes: the largest value and its place, whose zeros are exact; a stencil whose padded input may have
// any size.
func.func @largest(%x: memref<?x?xf32>, %v: memref<?xf32>, %p: memref<?xi64>, %m: index, %n: index) {
  mdh.compute (i = %m, k = %n)
    out_view(v = %v[i] : memref<?xf32>, p = %p[i] : memref<?xi64>)
    md_hom((%a: f32) {
      %k = mdh.index 1 : index
      %q = arith.index_cast %k : index to i64
      mdh.yield %a, %q : f32, i64
    }, (cc, pw(best)))
    inp_view(x = %x[i, k] : memref<?x?xf32>)
    combine best associative commutative (%a0: f32, %b0: i64, %a1: f32, %b1: i64) {
      %g = arith.cmpf ogt, %a0, %a1 : f32
      %e = arith.cmpf oeq, %a0, %a1 : f32
      %l = arith.cmpi slt, %b0, %b1 : i64
      %el = arith.andi %e, %l : i1
      %c = arith.ori %g, %el : i1
      %a = arith.select %c, %a0, %a1 : f32
      %b = arith.select %c, %b0, %b1 : i64
      mdh.yield %a, %b : f32, i64
    }
  return
}

func.func @stencil(%x: memref<?x?xf64>, %y: memref<?x?xf64>, %m: index, %n: index) {
  mdh.compute (i = %m, j = %n)
    out_view(y = %y[i, j] : memref<?x?xf64>)
    md_hom((%a: f64, %b: f64, %c: f64) {
      %s = arith.addf %a, %b : f64
      %t = arith.subf %s, %c : f64
      mdh.yield %t : f64
    }, (cc, cc))
    inp_view(x = %x[i - 1, j][i + 1, j][i, j - 2] pad(1.0 : f64) : memref<?x?xf64>)
  return
}
