// Memory is allocated before the outermost loop that it can be taken before, with checks that mark
// what is written and prefix sums that keep slices, and freed behind that loop.
//
// RUN: mdh-opt %s --mdh-checks --mdh-simplify --mdh-bufferize --mdh-loops | FileCheck %s
// RUN: mdh-opt %s --verify-diagnostics --mdh-hoist-buffers | FileCheck %s --check-prefix ALONE

// CHECK-LABEL: func.func @marks(
// CHECK: %[[MARKS:.*]] = memref.alloc(%{{.*}}) : memref<?xi1>
// CHECK-NEXT: scf.for
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[MARKS]]
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc %[[MARKS]]
// CHECK-NEXT: return
func.func @marks(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index, %m: index, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %steps step %c1 {
    scf.for %u = %c0 to %steps step %c1 {
      mdh.compute (i = %n, j = %m)
        out_view(y = %y[3 * i + 5 * j] : memref<?xf32>)
        md_hom(id, (cc, cc))
        inp_view(x = %x[i, j] : memref<?x?xf32>)
    }
  }
  return
}

// CHECK-LABEL: func.func @slices(
// CHECK: %[[SLICE:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT: scf.for
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc %[[SLICE]]
// CHECK-NEXT: return
func.func @slices(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %steps step %c1 {
    mdh.compute (i = 8, j = 8)
      out_view(y = %y[i, j] : memref<8x8xf32>)
      md_hom(id, (ps(addf), ps(addf)))
      inp_view(x = %x[i, j] : memref<8x8xf32>)
  }
  return
}

// The size changes from one iteration to the next: the inner loop's memory stays in the outer one.
// ALONE-LABEL: func.func @sizes(
// ALONE: scf.for %[[T:.*]] =
// ALONE-NEXT: %[[M:.*]] = memref.alloc(%[[T]])
// ALONE-NEXT: scf.while
// ALONE-NOT: memref.dealloc
// ALONE: scf.yield
// ALONE-NEXT: }
// ALONE-NEXT: memref.dealloc %[[M]]
func.func @sizes(%x: memref<?xf32>, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %steps step %c1 {
    scf.while : () -> () {
      %m = memref.alloc(%t) : memref<?xf32>
      memref.copy %m, %x : memref<?xf32> to memref<?xf32>
      memref.dealloc %m : memref<?xf32>
      %no = arith.constant false
      scf.condition(%no)
    } do {
      scf.yield
    }
  }
  return
}

// Iterations that run at the same time need memory of their own; what is not freed belongs to
// somebody else.
// ALONE-LABEL: func.func @apart(
// ALONE: scf.parallel
// ALONE-NEXT: memref.alloc()
// ALONE: scf.for
// ALONE-NEXT: memref.alloc()
func.func @apart(%x: memref<4xf32>, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%t) = (%c0) to (%steps) step (%c1) {
    // expected-remark @+1 {{stays in its loop: iterations are not one after the other: expected a sequential loop}}
    %m = memref.alloc() : memref<4xf32>
    memref.copy %x, %m : memref<4xf32> to memref<4xf32>
    memref.dealloc %m : memref<4xf32>
  }
  scf.for %t = %c0 to %steps step %c1 {
    // expected-remark @+1 {{stays in its loop: it is not freed in its block: expected one dealloc there}}
    %m = memref.alloc() : memref<4xf32>
    memref.copy %x, %m : memref<4xf32> to memref<4xf32>
  }
  return
}

// ALONE-LABEL: func.func @grows(
// ALONE: scf.for
// ALONE-NEXT: memref.alloc(
func.func @grows(%x: memref<?xf32>, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %steps step %c1 {
    // expected-remark @+1 {{stays in its loop: its size is computed there: expected one that is known before the loop}}
    %m = memref.alloc(%t) : memref<?xf32>
    memref.copy %x, %m : memref<?xf32> to memref<?xf32>
    memref.dealloc %m : memref<?xf32>
  }
  return
}

// Refuses nothing: memory that stays in its loop is right there.
