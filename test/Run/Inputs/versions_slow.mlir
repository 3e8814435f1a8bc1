// What is slow, for any size and for one.
func.func @attention(%s: memref<?x?xf32>, %v: memref<?x64xf32>, %o: memref<?x64xf32>)
    attributes {mdh.versions = ["512x512, 512x64, 512x64"]} {
  %c0 = arith.constant 0 : index
  %m = memref.dim %o, %c0 : memref<?x64xf32>
  %n = memref.dim %v, %c0 : memref<?x64xf32>
  mdh.compute (q = %m, j = 64, k = %n)
    out_view(o = %o[q, j] : memref<?x64xf32>)
    md_hom((%s_qk: f32, %v_kj: f32) {
      %e = math.exp %s_qk : f32
      %p = arith.mulf %e, %v_kj : f32
      mdh.yield %p : f32
    }, (cc, cc, pw(addf)))
    inp_view(s = %s[q, k] : memref<?x?xf32>, v = %v[k, j] : memref<?x64xf32>)
  return
}
