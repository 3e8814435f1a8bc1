// Indices that do not fit 64 bits are an error, also where a value stands for what is outside.
// RUN: not mdh run %s --entry static --random 1 2>&1 | FileCheck %s --check-prefix STATIC
// STATIC: reads input {{.*}} at an index '{{.*}}' in axis 0 that does not fit 64 bits: expected smaller factors, or a smaller domain
// RUN: not mdh run %s --entry dynamic --random 1 --size i=8 2>&1 | FileCheck %s --check-prefix DYNAMIC
// DYNAMIC: reads input {{.*}} at an index '{{.*}}' in axis 0 that does not fit 64 bits
// RUN: mdh run %s --entry dynamic --random 1 --size i=1 --check | FileCheck %s --check-prefix FITS
// FITS: check  passed

func.func @static(%x: memref<4xf32>, %y: memref<8xf32>) {
  %p = mdh.inp_view (i = 8) (%x[4611686018427387904 * i] pad(0.0 : f32) : memref<4xf32>) : !mdh.mda<8, f32>
  %h = mdh.hom(id, (cc)) %p : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  mdh.out_view (i) %h -> (%y[i] : memref<8xf32>) : !mdh.mda<8, f32>
  return
}
func.func @dynamic(%x: memref<4xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  %p = mdh.inp_view (i = %n) (%x[4611686018427387904 * i] pad(0.0 : f32) : memref<4xf32>) : !mdh.mda<?, f32>
  %h = mdh.hom(id, (cc)) %p : !mdh.mda<?, f32> -> !mdh.mda<?, f32>
  mdh.out_view (i) %h -> (%y[i] : memref<?xf32>) : !mdh.mda<?, f32>
  return
}
