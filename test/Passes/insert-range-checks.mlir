// What is asserted at run time, and what is not.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-insert-range-checks --cse | FileCheck %s

// All known: nothing is asserted.
// Silent: the verifier has checked what is known.
// CHECK-LABEL: @known
// CHECK-NOT: cf.assert
func.func @known(%x: memref<8x5xf32>, %y: memref<8xf32>) {
  mdh.compute (i = 8, k = 5)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<8x5xf32>)
  return
}

// Padding is read outside of the buffer; a domain that is the buffer's, by its sizes.
// CHECK-LABEL: @its_own
// CHECK-NOT: cf.assert
func.func @its_own(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = mdh.compute (i = 1 to %n)
    out_view(y = %e[i] : tensor<?xf32>)
    md_hom(addf, (ps(addf)))
    inp_view(x = %x[i] : tensor<?xf32>, z = %x[i - 3] pad(0.0 : f32) : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// Steps and widths, before points are counted by them.
// CHECK-LABEL: @grid
// CHECK-SAME: %[[S:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: index
// CHECK:      %[[C1:.*]] = arith.constant 1 : index
// CHECK:      %[[STEP:.*]] = arith.cmpi sge, %[[S]], %[[C1]] : index
// CHECK-NEXT: cf.assert %[[STEP]], "mdh.compute has a step below 1 in dimension 'i': expected at least 1"
// CHECK-NEXT: %[[LEAST:.*]] = arith.cmpi sge, %[[W]], %[[C1]] : index
// CHECK-NEXT: %[[MOST:.*]] = arith.cmpi sle, %[[W]], %[[S]] : index
// CHECK-NEXT: %[[WIDTH:.*]] = arith.andi %[[LEAST]], %[[MOST]] : i1
// CHECK-NEXT: cf.assert %[[WIDTH]], "mdh.compute has a width in dimension 'i' that is below 1 or above its step: expected 1 to the step"
// CHECK-NOT:  cf.assert
func.func @grid(%x: memref<8xf32>, %y: memref<8xf32>, %s: index, %w: index) {
  mdh.compute (i = 8 step %s width %w)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : memref<8xf32>)
  return
}

// The number of points: of several dimensions, and of bounds that may be far apart.
// CHECK-LABEL: @points
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
// CHECK-DAG:  %[[MAX:.*]] = arith.constant 9223372036854775807 : index
// CHECK-DAG:  %[[IN:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK:      %[[LIMIT:.*]] = arith.divsi %[[MAX]], %{{.*}} : index
// CHECK-NEXT: arith.cmpi sle, %{{.*}}, %[[LIMIT]] : index
// CHECK:      cf.assert %{{.*}}, "mdh.compute has a domain of more than 2^63 - 1 points: expected smaller bounds"
// CHECK-NOT:  cf.assert
func.func @points(%x: memref<f32>, %y: memref<f32>, %n: index, %m: index) {
  mdh.compute (i = %n, k = %m to 9)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf), pw(addf)))
    inp_view(x = %x[] : memref<f32>)
  return
}

// A schedule that says how many parts there are covers the points; one that leaves the outermost
// count out does whatever their number.
// CHECK-LABEL: @scheduled
// CHECK-SAME: %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %[[N:[a-z0-9]+]]: index
// CHECK:      %[[COVERED:.*]] = arith.cmpi sle, %{{.*}}, %c8 : index
// CHECK-NEXT: cf.assert %[[COVERED]], "mdh.compute has a schedule whose parts cover 8 points of dimension 'i', which has more: leave the outermost count out or write '*'"
// CHECK-NOT:  has a schedule
func.func @scheduled(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, simd {i: 4}]>)
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {}, simd {i: 4}]>)
  return
}

// An empty dimension, no neutral element: a carry may be there, nothing may be expected.
// CHECK-LABEL: @empty
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index, %[[B:[a-z0-9]+]]: i1
// CHECK:      %[[THERE:.*]] = arith.cmpi sgt
// CHECK-NEXT: %[[OR:.*]] = arith.ori %[[THERE]], %[[B]] : i1
// CHECK-NEXT: %[[HOLDS:.*]] = arith.ori %[[OR]], %{{.*}} : i1
// CHECK-NEXT: cf.assert %[[HOLDS]], "mdh.compute combines no points in dimension 'k' by an operator that has no neutral element: expected at least one point, a carry that is there, or 'neutral(...)' on the operator"
func.func @empty(%x: memref<?x?xf32>, %y: memref<?xf32>, %c: memref<?xf32>, %n: index, %m: index, %there: i1) {
  mdh.compute (i = %n, k = %m)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc, pw(first)))
    inp_view(x = %x[i, k] : memref<?x?xf32>)
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
    carry k (c = %c[i] : memref<?xf32>) valid %there
  return
}

// Ranges: each index function once; the buffer's size, its origin, the domain's end.
// CHECK-LABEL: @ranges
// CHECK:     reads input 'x' outside of its extent in axis 0 ('i'): enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'
// CHECK:     reads input 'x' outside of its extent in axis 1 ('2 * k + 1')
// CHECK:     reads input 'x' outside of its extent in axis 1 ('7 - k')
// CHECK:     writes output 'y' outside of its extent in axis 0 ('i'): enlarge the buffer or shrink the domain
// CHECK:     receives carry 'c' outside of its extent in axis 0 ('i')
// CHECK:     carries out carried-out 'd' outside of its extent in axis 0 ('i')
// CHECK-NOT: cf.assert
func.func @ranges(%x: memref<?x?xf32>, %y: memref<8xf32>, %c: memref<8xf32>, %d: memref<8xf32>, %n: index, %o: index) {
  mdh.compute (i = %n, k = 5)
    out_view(y = %y[i] origin(%o) : memref<8xf32>)
    md_hom((%a: f32, %b: f32) {
      mdh.yield %b : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, 2 * k + 1][i, 7 - k] : memref<?x?xf32>)
    carry k (c = %c[i] : memref<8xf32>) -> (d = %d[i] origin(-1) : memref<8xf32>)
  return
}

// Divisions are compared as numbers; `mod` where that does not suffice by a loop.
// CHECK-LABEL: @divisions
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK:      arith.floordivsi
// CHECK-NOT:  scf
// CHECK:      reads input 'x' outside of its extent in axis 0 ('(k + 2) floordiv 3')
// CHECK:      %[[INSIDE:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK:      } else {
// CHECK:        %[[ALL:.*]] = scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args(%{{.*}} = %true
// CHECK:      cf.assert %[[INSIDE]], "mdh.compute reads input 'x' outside of its extent in axis 0 ('(5 * k) mod 7')
func.func @divisions(%x: memref<?xf32>, %y: memref<f32>, %n: index) {
  mdh.compute (k = %n)
    out_view(y = %y[] : memref<f32>)
    md_hom(mulf, (pw(addf)))
    inp_view(x = %x[(k + 2) floordiv 3][5 * k mod 7] : memref<?xf32>)
  return
}

// Whether an element is written twice: by the sizes, else by marking each.
// CHECK-LABEL: @twice
// CHECK:      scf.if %{{.*}} -> (i1) {
// CHECK:        memref.alloc(%{{.*}}) : memref<?xi1>
// CHECK:        memref.dealloc
// CHECK:      cf.assert %{{.*}}, "mdh.compute writes output 'y' twice at one place: expected each element to be written by one point; use every kept dimension in the index function, or combine the others by 'pw'"
func.func @twice(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index, %m: index) {
  mdh.compute (i = %n, j = %m)
    out_view(y = %y[4 * i + j] : memref<?xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<?x?xf32>)
  return
}

// What an axis is split into: no extent is negative, and their product is that of the axis, by division.
// CHECK-LABEL: @split
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?xf32>, %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
// CHECK:      %[[LEFT:.*]] = arith.cmpi sge, %[[N]], %c0
// CHECK-NEXT: %[[RIGHT:.*]] = arith.cmpi sge, %[[M]], %c0
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[LEFT]], %[[RIGHT]]
// CHECK-NEXT: cf.assert %[[BOTH]], "'memref.expand_shape' op splits axis 0 into a negative number of parts: expected extents of at least 0"
// CHECK:      %[[ALL:.*]] = memref.dim %[[X]], %c0
// CHECK:      %[[PARTS:.*]] = arith.divsi %[[ALL]], %c4
// CHECK:      %[[SOME:.*]] = arith.maxsi %[[N]], %c1
// CHECK:      %[[REST:.*]] = arith.divsi %[[PARTS]], %[[SOME]]
// CHECK-NEXT: arith.cmpi eq, %[[REST]], %[[M]]
// CHECK:      cf.assert %{{.*}}, "'memref.expand_shape' op splits axis 0 into extents whose product is not that of the axis: expected as many elements as there are"
// CHECK-NOT:  cf.assert
// CHECK:      memref.expand_shape
func.func @split(%x: memref<?xf32>, %n: index, %m: index) -> memref<?x4x?xf32> {
  %e = memref.expand_shape %x [[0, 1, 2]] output_shape [%n, 4, %m] : memref<?xf32> into memref<?x4x?xf32>
  return %e : memref<?x4x?xf32>
}

// What is known, or the axis itself, is not asserted.
// Silent: there is nothing that sizes at run time decide.
// CHECK-LABEL: @split_known
// CHECK-NOT: cf.assert
func.func @split_known(%x: tensor<?x6xf32>) -> tensor<?x1x2x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %e = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [%n, 1, 2, 3] : tensor<?x6xf32> into tensor<?x1x2x3xf32>
  return %e : tensor<?x1x2x3xf32>
}

// -----

func.func @axes(%x: memref<8xf32>) -> index {
  %c5 = arith.constant 5 : index
  // expected-error @+1 {{asks for the extent of axis 5 of a buffer whose axes are 0 to 0}}
  %n = memref.dim %x, %c5 : memref<8xf32>
  return %n : index
}
