// Loops over rows of an output that is stored non-temporally begin with a line.
// RUN: mdh-opt %s --mdh-tile --canonicalize --cse | FileCheck %s

// 1021 elements of four bytes are no whole lines: what is in front of the first one is a tile of
// its own, if there is any.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[X:[^:]*]]: {{.*}}, %[[Y:[^:]*]]:
// CHECK:         scf.for %[[I:.*]] = %c0 to %c10000 step %c1
// CHECK:           %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK:           %[[BYTES:.*]] = arith.muli %[[I]], %c4084
// CHECK:           %[[ADDRESS:.*]] = arith.addi %[[START]], %[[BYTES]]
// CHECK:           %[[REST:.*]] = arith.andi %[[ADDRESS]], %c63
// CHECK:           %[[LEFT:.*]] = arith.subi %c64, %[[REST]]
// CHECK:           %[[LESS:.*]] = arith.andi %[[LEFT]], %c63
// CHECK:           %[[POINTS:.*]] = arith.divui %[[LESS]], %c4
// CHECK:           %[[LINE:.*]] = arith.minsi %[[POINTS]], %c1021
// CHECK:           %[[SOME:.*]] = arith.cmpi sgt, %[[LINE]], %c0
// CHECK:           scf.if %[[SOME]] {
// CHECK:             mdh.compute (i = %[[I]] to %{{.*}}, j = %[[LINE]])
// CHECK:           }
// CHECK:           scf.for %[[J:.*]] = %[[LINE]] to %c1021 step %c16
// CHECK:             mdh.compute (i = %[[I]] to %{{.*}}, j = %[[J]] to %{{.*}})
func.func @rows(%x: memref<10000x1021xf32>, %y: memref<10000x1021xf32>) {
  mdh.compute (i = 10000, j = 1021)
      out_view(y = %y[i, j] : memref<10000x1021xf32>)
      md_hom((%a: f32) {
        %b = arith.negf %a : f32
        mdh.yield %b : f32
      }, (cc, cc))
      inp_view(x = %x[i, j] : memref<10000x1021xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {j: 16}]>)
  return
}

// Nothing changes where all rows begin with a line, in what the caches hold, in what is read as
// well, with tiles that are no lines, and along another dimension.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     memref.extract_aligned_pointer_as_index
// CHECK:         return
func.func @others(%x: memref<10000x1024xf32>, %y: memref<10000x1024xf32>, %a: memref<100x1021xf32>,
    %b: memref<100x1021xf32>, %c: memref<10000x1021xf32>, %d: memref<10000x1021xf32>) {
  mdh.compute (i = 10000, j = 1024)
      out_view(y = %y[i, j] : memref<10000x1024xf32>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : memref<10000x1024xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {j: 16}]>)
  mdh.compute (i = 100, j = 1021)
      out_view(b = %b[i, j] : memref<100x1021xf32>)
      md_hom(id, (cc, cc))
      inp_view(a = %a[i, j] : memref<100x1021xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {j: 16}]>)
  mdh.compute (i = 10000, j = 1021)
      out_view(d = %d[i, j] : memref<10000x1021xf32>)
      md_hom((%e: f32) {
        %f = arith.negf %e : f32
        mdh.yield %f : f32
      }, (cc, cc))
      inp_view(e = %d[i, j] : memref<10000x1021xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {j: 16}]>)
  mdh.compute (i = 10000, j = 1021)
      out_view(d = %d[i, j] : memref<10000x1021xf32>)
      md_hom(id, (cc, cc))
      inp_view(c = %c[i, j] : memref<10000x1021xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {j: 4}]>)
  mdh.compute (i = 10000, j = 1021)
      out_view(d = %d[i, j] : memref<10000x1021xf32>)
      md_hom(id, (cc, cc))
      inp_view(c = %c[i, j] : memref<10000x1021xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, simd {i: 16}],
        decompose = {order: [L2.j, L2.i, simd.i]}>)
  return
}
