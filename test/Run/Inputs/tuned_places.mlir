// Strided elements, steps, bounds that are computed from two sizes, and one that begins anywhere.
func.func @strided(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %y: memref<?x?xf32, strided<[?, 1]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %m = memref.dim %y, %c1 : memref<?x?xf32, strided<[?, 1]>>
  mdh.compute (i = %n, j = %m)
    out_view(y = %y[i, j] : memref<?x?xf32, strided<[?, 1]>>)
    md_hom((%a: f32) {
      %b = arith.addf %a, %a : f32
      mdh.yield %b : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : memref<?x?xf32, strided<[?, 1], offset: ?>>)
  return
}
func.func @steps(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  mdh.compute (i = 0 to %n step 2)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
  return
}
func.func @product(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %all = arith.muli %n, %m : index
  mdh.compute (i = %all)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %y[i] : memref<?xf32>)
  return
}
func.func @from(%x: memref<?xf32>, %y: memref<?xf32>, %first: index) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  mdh.compute (i = %first to %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
  return
}
