// Tiles of schedules, which say more than triples do.
func.func @threads(%x: memref<8xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    threads(cooperative)
  return
}

// -----

func.func @in_place(%x: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %x[i] : memref<8xf32>)
    md_hom(mulf, (cc))
    inp_view(x = %x[i][i] : memref<8xf32>)
    in_place
  return
}
