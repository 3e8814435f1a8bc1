// A staged tile that lies in a layout of the algebra, of a size that only a run knows, and is read
// into another tile.
//
// RUN: mdh run %s --size i=5 --check | FileCheck %s
// RUN: mdh run %s --size i=0 --check | FileCheck %s
// CHECK: check passed

func.func @f(%x: tensor<5xf32>, %y_init: tensor<5xf32>, %n: index) -> tensor<5xf32> {
  %y = mdh.compute (i = %n)
    out_view(y = %y_init[i] : tensor<5xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<5xf32>)
    schedule(#mdh.schedule<
      asm = cpu,
      layers = [core {}, L2 {i: 2}, simd {i: 4}],
      decompose = {order: [core.i, L2.i, simd.i]},
      inputs = {
        x: {
          layout: {L2.i: "OrderBy(RegP([2],[1]),RegP([4],[1])).OrderBy(RegP([2,4],[1,2])).GroupBy([8])"},
          scalar: L1, stage: {L2.i: L2}}}>)
  return %y : tensor<5xf32>
}
