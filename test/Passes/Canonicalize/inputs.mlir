// Inputs that are unused or the same.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// Accesses of one buffer: unused, twice, of two names; origins and padding make a difference.
// CHECK-LABEL: @accesses
// CHECK:      md_hom((%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32) {
// CHECK-NEXT:   %[[AA:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:   %[[AB:.*]] = arith.addf %[[AA]], %[[B]]
// CHECK-NEXT:   %[[AC:.*]] = arith.addf %[[AB]], %[[C]]
// CHECK-NEXT:   arith.addf %[[AC]], %[[D]]
// CHECK:      inp_view(x = %[[X:.*]][i][i + 1] : memref<16xf32>, z = %[[X]][i + 1] origin(1) : memref<16xf32>, p = %[[X]][i - 1] pad(0.000000e+00 : f32) : memref<16xf32>)
func.func @accesses(%x: memref<16xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom((%a: f32, %unused: f32, %a2: f32, %b: f32, %c: f32, %d: f32) {
      %0 = arith.addf %a, %a2 : f32
      %1 = arith.addf %0, %b : f32
      %2 = arith.addf %1, %c : f32
      %3 = arith.addf %2, %d : f32
      mdh.yield %3 : f32
    }, (cc))
    inp_view(x = %x[i][i + 3][i] : memref<16xf32>, x2 = %x[i + 1] : memref<16xf32>,
             z = %x[i + 1] origin(1) : memref<16xf32>,
             p = %x[i - 1] pad(0.0 : f32) : memref<16xf32>)
  return
}

// No input at all is left.
// CHECK-LABEL: @none
// CHECK: inp_view()
func.func @none(%x: memref<16xf32>, %y: memref<8xindex>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xindex>)
    md_hom((%a: f32) {
      %i = mdh.index 0 : index
      mdh.yield %i : index
    }, (cc))
    inp_view(x = %x[i] : memref<16xf32>)
  return
}
