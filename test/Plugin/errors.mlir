// Diagnostics are the same in the stock mlir-opt.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %s --verify-diagnostics

func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{reads input 'x' at 1..9 in axis 0 ('i + 1'), but that has the indices 0..8}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 1] : memref<8xf32>)
  return
}
