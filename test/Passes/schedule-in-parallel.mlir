// A parallel loop of somebody else has the cores: computations in it get none.
//
// RUN: mdh-opt %s "--mdh-schedule=asm=cpu cores=8" | FileCheck %s
//
// Tiles of upstream's threads, from the start.
// RUN: mdh-opt %S/Inputs/schedule-in-parallel.mlir --transform-interpreter -mdh-bufferize \
// RUN:   "--mdh-schedule=asm=cpu cores=8" | FileCheck %s --check-prefix TILES
// TILES:     scf.forall
// TILES:       mdh.compute
// TILES:         schedule(
// TILES-NOT:     core
// TILES:     return

// CHECK-LABEL: func.func @alone(
// CHECK:       layers = [core {
func.func @alone(%x: memref<4096x4096xf32>, %y: memref<4096xf32>) {
  mdh.compute (i = 4096, j = 4096)
    out_view(y = %y[i] : memref<4096xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  return
}

// CHECK-LABEL: func.func @forall(
// CHECK-NOT:   core
// CHECK:       schedule(
// CHECK-NOT:   core
// CHECK-LABEL: func.func @parallel(
// CHECK-NOT:   core
// CHECK:       schedule(
// CHECK-NOT:   core
// CHECK-LABEL: func.func @openmp(
// CHECK-NOT:   core
// CHECK:       schedule(
// CHECK-NOT:   core
// CHECK-LABEL: func.func @sequential(
func.func @forall(%x: memref<4096x4096xf32>, %y: memref<8x4096xf32>) {
  scf.forall (%t) in (8) {
    %own = memref.subview %y[%t, 0] [1, 4096] [1, 1] : memref<8x4096xf32> to memref<4096xf32, strided<[1], offset: ?>>
    mdh.compute (i = 4096, j = 4096)
      out_view(y = %own[i] : memref<4096xf32, strided<[1], offset: ?>>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  }
  return
}

func.func @parallel(%x: memref<4096x4096xf32>, %y: memref<8x4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%t) = (%c0) to (%c8) step (%c1) {
    %own = memref.subview %y[%t, 0] [1, 4096] [1, 1] : memref<8x4096xf32> to memref<4096xf32, strided<[1], offset: ?>>
    scf.for %s = %c0 to %c8 step %c1 {
      mdh.compute (i = 4096, j = 4096)
        out_view(y = %own[i] : memref<4096xf32, strided<[1], offset: ?>>)
        md_hom(id, (cc, pw(addf)))
        inp_view(x = %x[i, j] : memref<4096x4096xf32>)
    }
  }
  return
}

func.func @openmp(%x: memref<4096x4096xf32>, %y: memref<4096xf32>) {
  omp.parallel {
    mdh.compute (i = 4096, j = 4096)
      out_view(y = %y[i] : memref<4096xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, j] : memref<4096x4096xf32>)
    omp.terminator
  }
  return
}

// CHECK:       layers = [core {
func.func @sequential(%x: memref<4096x4096xf32>, %y: memref<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %s = %c0 to %c8 step %c1 {
    mdh.compute (i = 4096, j = 4096)
      out_view(y = %y[i] : memref<4096xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[i, j] : memref<4096x4096xf32>)
  }
  return
}
