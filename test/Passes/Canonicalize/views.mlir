// What is read through a view is read from behind it.
//
// RUN: mdh-opt %s --canonicalize --cse | FileCheck %s

// Offsets, strides and a dropped axis; the slice's own origin.
// CHECK-LABEL: @slice
// CHECK: inp_view(s = %{{.*}}[5, i + 1, k * 2 - 4] : tensor<8x9x16xf32>)
func.func @slice(%x: tensor<8x9x16xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[5, 1, 2] [1, 4, 5] [1, 1, 2]
     : tensor<8x9x16xf32> to tensor<4x5xf32>
  %0 = mdh.compute (i = 4, k = 3 to 8)
    out_view(y = %y[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(s = %s[i, k] origin(0, 3) : tensor<4x5xf32>)
  return %0 : tensor<4xf32>
}

// Dynamic offsets and origins become origins: `s[k - o]` is `x[2 * k - (2 * o - offset)]`.
// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x16xf32>, %[[OFFSET:[a-z0-9]+]]: index, %[[O:[a-z0-9]+]]: index
// CHECK-DAG:  %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:  %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:  %[[MINUS:.*]] = arith.subi %[[C0]], %[[OFFSET]] : index
// CHECK-DAG:  %[[TWICE:.*]] = arith.muli %[[O]], %[[C2]] : index
// CHECK:      %[[SUM:.*]] = arith.addi %[[MINUS]], %[[TWICE]] : index
// CHECK:      inp_view(s = %[[X]][i, k * 2] origin(%[[MINUS]], %[[SUM]]) : tensor<?x16xf32>)
func.func @dynamic(%x: tensor<?x16xf32>, %offset: index, %o: index, %y: tensor<4xf32>)
    -> tensor<4xf32> {
  %s = tensor.extract_slice %x[%offset, %offset] [4, 5] [1, 2]
     : tensor<?x16xf32> to tensor<4x5xf32>
  %0 = mdh.compute (i = 4, k = 5)
    out_view(y = %y[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(s = %s[i, k] origin(0, %o) : tensor<4x5xf32>)
  return %0 : tensor<4xf32>
}

// A value outside of a slice is no element of the source; a dynamic stride is no index function.
// CHECK-LABEL: @stays
// CHECK: tensor.extract_slice
// CHECK: tensor.extract_slice
// CHECK: inp_view(s = %{{.*}}[i - 1] pad(0.000000e+00 : f32) : tensor<4xf32>, t = %{{.*}}[i] : tensor<4xf32>)
func.func @stays(%x: tensor<16xf32>, %n: index, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[2] [4] [1] : tensor<16xf32> to tensor<4xf32>
  %t = tensor.extract_slice %x[2] [4] [%n] : tensor<16xf32> to tensor<4xf32>
  %0 = mdh.compute (i = 4)
    out_view(y = %y[i] : tensor<4xf32>)
    md_hom(addf, (cc))
    inp_view(s = %s[i - 1] pad(0.0 : f32) : tensor<4xf32>, t = %t[i] : tensor<4xf32>)
  return %0 : tensor<4xf32>
}

// Transpositions and casts keep bounds: padding stays true. So do carries.
// CHECK-LABEL: @transposed
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x16xf32>, %[[C:[a-z0-9]+]]: tensor<4xf32>
// CHECK: inp_view(t = %[[X]][i, k - 1] origin(0, 3) pad(0.000000e+00 : f32) : tensor<8x16xf32>)
// CHECK: carry k (c = %[[C]][i] : tensor<4xf32>)
func.func @transposed(%x: tensor<8x16xf32>, %c: tensor<4xf32>, %y: tensor<4xf32>)
    -> tensor<4xf32> {
  %e = tensor.empty() : tensor<16x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%e : tensor<16x8xf32>) permutation = [1, 0]
  %u = tensor.cast %t : tensor<16x8xf32> to tensor<?x8xf32>
  %d = tensor.cast %c : tensor<4xf32> to tensor<?xf32>
  %0 = mdh.compute (i = 4, k = 5)
    out_view(y = %y[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(t = %u[k - 1, i] origin(3, 0) pad(0.0 : f32) : tensor<?x8xf32>)
    carry k (c = %d[i] : tensor<?xf32>)
  return %0 : tensor<4xf32>
}

// A destination becomes more static, its result is cast back; no cast that forgets is undone.
// CHECK-LABEL: @casts
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[Y:[a-z0-9]+]]: tensor<8xf32>
// CHECK: %[[S:.*]] = tensor.cast %[[X]] : tensor<?xf32> to tensor<8xf32>
// CHECK: %[[W:.*]] = mdh.compute (i = 8)
// CHECK: out_view(y = %[[Y]][i] : tensor<8xf32>)
// CHECK: inp_view(x = %[[S]][i] : tensor<8xf32>)
// CHECK: %[[R:.*]] = tensor.cast %[[W]] : tensor<8xf32> to tensor<?xf32>
// CHECK: return %[[R]]
func.func @casts(%x: tensor<?xf32>, %y: tensor<8xf32>) -> tensor<?xf32> {
  %s = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
  %d = tensor.cast %y : tensor<8xf32> to tensor<?xf32>
  %0 = mdh.compute (i = 8)
    out_view(y = %d[i] : tensor<?xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %s[i] : tensor<8xf32>)
  return %0 : tensor<?xf32>
}

// Reshapes: an index over several axes is a sum; a digit of an index is found where the others
// are seen to stay apart.
// CHECK-LABEL: @reshapes
// CHECK: inp_view(e = %{{.*}}[i * 12 + k + 5] : tensor<96xf32>, c = %{{.*}}[0, i + 1, k * 2 + 1] : tensor<1x9x12xf32>)
func.func @reshapes(%x: tensor<96xf32>, %z: tensor<1x9x12xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.expand_shape %x [[0, 1, 2]] output_shape [8, 1, 12] : tensor<96xf32> into tensor<8x1x12xf32>
  %c = tensor.collapse_shape %z [[0, 1, 2]] : tensor<1x9x12xf32> into tensor<108xf32>
  %0 = mdh.compute (i = 8, k = 6)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(e = %e[i, 0, k + 5] : tensor<8x1x12xf32>,
             c = %c[12 * i + 2 * k] origin(-13) : tensor<108xf32>)
  return %0 : tensor<8xf32>
}

// Digits that run into each other, and unknown sizes.
// CHECK-LABEL: @no_digits
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
// CHECK: mdh.compute
func.func @no_digits(%z: tensor<9x12xf32>, %x: tensor<?xf32>, %n: index, %m: index, %y: tensor<8xf32>)
    -> tensor<8xf32> {
  %c = tensor.collapse_shape %z [[0, 1]] : tensor<9x12xf32> into tensor<108xf32>
  %e = tensor.expand_shape %x [[0, 1]] output_shape [%m, %n] : tensor<?xf32> into tensor<?x?xf32>
  %0 = mdh.compute (i = 8, k = 13)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(c = %c[12 * i + k] : tensor<108xf32>, e = %e[i, k] : tensor<?x?xf32>)
  return %0 : tensor<8xf32>
}

// Broadcast, splat, fill and constant padding.
// CHECK-LABEL: @made
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[S:[a-z0-9]+]]: f32
// CHECK: inp_view(b = %[[X]][i] : tensor<8xf32>, f = %[[S]][] : f32, p = %[[X]][k - 2] pad(1.000000e+00 : f32) : tensor<8xf32>)
func.func @made(%x: tensor<8xf32>, %s: f32, %y: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x12xf32>
  %b = linalg.broadcast ins(%x : tensor<8xf32>) outs(%e : tensor<8x12xf32>) dimensions = [1]
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %p = tensor.pad %x low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<8xf32> to tensor<12xf32>
  %0 = mdh.compute (i = 8, k = 12)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom((%a: f32, %c: f32, %d: f32) {
      %1 = arith.mulf %a, %c : f32
      %2 = arith.mulf %1, %d : f32
      mdh.yield %2 : f32
    }, (cc, pw(addf)))
    inp_view(b = %b[i, k] : tensor<8x12xf32>, f = %f[i, k] : tensor<8x12xf32>,
             p = %p[k] : tensor<12xf32>)
  return %0 : tensor<8xf32>
}

// Among memrefs what is written too.
// CHECK-LABEL: @memrefs
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8x16xf32>, %[[Y:[a-z0-9]+]]: memref<16x4xf32>
// CHECK: out_view(w = %[[Y]][i * 2 + 1, j] : memref<16x4xf32>)
// CHECK: inp_view(x = %[[X]][j, i] : memref<8x16xf32>)
func.func @memrefs(%x: memref<8x16xf32>, %y: memref<16x4xf32>) {
  %t = memref.transpose %x (i, j) -> (j, i)
     : memref<8x16xf32> to memref<16x8xf32, strided<[1, 16]>>
  %s = memref.subview %y[1, 0] [6, 4] [2, 1]
     : memref<16x4xf32> to memref<6x4xf32, strided<[8, 1], offset: 4>>
  mdh.compute (i = 6, j = 4)
    out_view(w = %s[i, j] : memref<6x4xf32, strided<[8, 1], offset: 4>>)
    md_hom(id, (cc, cc))
    inp_view(x = %t[i, j] : memref<16x8xf32, strided<[1, 16]>>)
  return
}

// In a triple.
// CHECK-LABEL: @triple
// CHECK: mdh.inp_view (i = 4) (s = %{{.*}}[i + 3] : tensor<8xf32>) : !mdh.mda<4, f32>
func.func @triple(%x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = tensor.extract_slice %x[3] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %mda = mdh.inp_view (i = 4) (%s[i] : tensor<4xf32>) : !mdh.mda<4, f32>
  %w = mdh.out_view (i) %mda -> (%y[i] : tensor<4xf32>) : !mdh.mda<4, f32>
  return %w : tensor<4xf32>
}
