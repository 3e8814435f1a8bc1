// CHECK: conflict.mlir:[[@LINE+2]]:{{.*}}error: 'mdh.compute' op writes output 'y' where it reads input 'x' (element [2] is read at (i = 1) and written at (i = 2)):
func.func @f(%x: memref<8xf32>) {
  mdh.compute (i = 1 to 7)
    out_view(y = %x[i] : memref<8xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i][i + 1] : memref<8xf32>)
  return
}
