// Dimensions of one point.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// Indices that the scalar function asks for, also in nested regions; what is left is renumbered.
// CHECK-LABEL: @indices
// CHECK:      mdh.compute (j = 8)
// CHECK-NEXT:   out_view(y = %{{.*}}[5, j] : memref<6x8xindex>)
// CHECK-NEXT:   md_hom(() {
// CHECK-DAG:      %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG:      %[[J:.*]] = mdh.index 0 : index
// CHECK:          scf.if
// CHECK:        }, (cc))
func.func @indices(%y: memref<6x8xindex>) {
  mdh.compute (i = 5 to 6, j = 8)
    out_view(y = %y[i, j] : memref<6x8xindex>)
    md_hom(() {
      %j = mdh.index 1 : index
      %c3 = arith.constant 3 : index
      %is_small = arith.cmpi ult, %j, %c3 : index
      %n = scf.if %is_small -> (index) {
        %i = mdh.index 0 : index
        scf.yield %i : index
      } else {
        %j2 = mdh.index 1 : index
        scf.yield %j2 : index
      }
      mdh.yield %n : index
    }, (cc, cc))
    inp_view()
  return
}

// One point of a strided dimension.
// CHECK-LABEL: @strided
// CHECK: mdh.compute (k = 4)
// CHECK: inp_view(x = %{{.*}}[2, k] : memref<8x4xf32>)
func.func @strided(%x: memref<8x4xf32>, %y: memref<4xf32>) {
  mdh.compute (i = 2 to 8 step 7, k = 4)
    out_view(y = %y[k] : memref<4xf32>)
    md_hom(id, (ps(addf), cc))
    inp_view(x = %x[i, k] : memref<8x4xf32>)
  return
}

// All dimensions: one stays, combined by nothing; the operator goes.
// CHECK-LABEL: @one_stays
// CHECK:      mdh.compute (k = 1)
// CHECK-NEXT:   out_view(y = %{{.*}}[] : memref<f32>)
// CHECK-NEXT:   md_hom(id, (cc))
// CHECK-NEXT:   inp_view(x = %{{.*}}[0, k] : memref<8x4xf32>)
// CHECK-NEXT: return
func.func @one_stays(%x: memref<8x4xf32>, %y: memref<f32>) {
  mdh.compute (i = 1, k = 1)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(first), pw(first)))
    inp_view(x = %x[i, k] : memref<8x4xf32>)
    combine first commutative associative neutral(0.0 : f32) (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}

// A carry combines with the one point; carries of other dimensions keep theirs.
// CHECK-LABEL: @carries
// CHECK:      mdh.compute (k = 1, l = 5)
// CHECK:        carry k (c = %{{.*}}[3] : memref<4xf32>)
// CHECK-NEXT:   carry l (d = %{{.*}}[3] : memref<4xf32>) -> (e = %{{.*}}[3] : memref<4xf32>)
func.func @carries(%x: memref<4x5xf32>, %y: memref<4xf32>, %c: memref<4xf32>, %e: memref<4xf32>) {
  mdh.compute (i = 3 to 4, k = 1, l = 5, m = 1)
    out_view(y = %y[i] : memref<4xf32>)
    md_hom(id, (cc, pw(addf), pw(addf), pw(addf)))
    inp_view(x = %x[i, l] : memref<4x5xf32>)
    carry k (c = %c[i] : memref<4xf32>)
    carry l (d = %c[i] : memref<4xf32>) -> (e = %e[i] : memref<4xf32>)
  return
}

// Not known to be one point.
// CHECK-LABEL: @unknown
// CHECK: mdh.compute (i = %{{.*}} to %{{.*}}, k = 4)
func.func @unknown(%x: memref<8x4xf32>, %y: memref<8xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  mdh.compute (i = %n to %m, k = 4)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x4xf32>)
  return
}
