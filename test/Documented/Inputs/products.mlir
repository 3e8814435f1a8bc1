func.func @f(%A: memref<16x16xf16>, %B: memref<16x5xf16>, %C: memref<16x5xf32>) {
  mdh.compute (i = 16, j = 5, k = 16)
    out_view(C = %C[i, j] : memref<16x5xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<16x16xf16>, B = %B[k, j] : memref<16x5xf16>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, thread {i: 8, j: 4}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}
