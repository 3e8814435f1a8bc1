// A computation in a kernel: it needs no symbol from outside of it, and no pass needs a func.func.
//
// RUN: mdh-opt %s --mdh-checks --mdh-simplify --mdh-bufferize --mdh-loops | FileCheck %s

// CHECK-LABEL: gpu.func @sums(
// CHECK-SAME: %[[M:.*]]: memref<?x8xf32>, %[[W:.*]]: memref<?xf32>)
// CHECK: %[[N:.*]] = memref.dim %[[M]], %c0
// CHECK: cf.assert {{.*}}"mdh.compute writes output 'w' outside of its extent in axis 0 ('i')
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 {
// CHECK-NEXT: %[[S:.*]] = scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args(
// CHECK: memref.load %[[M]][%[[I]], %[[K]]]
// CHECK: memref.store %[[S]], %[[W]][%[[I]]]
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @sums(%m: memref<?x8xf32>, %w: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %n = memref.dim %m, %c0 : memref<?x8xf32>
    mdh.compute (i = %n, k = 8)
      out_view(w = %w[i] : memref<?xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(m = %m[i, k] : memref<?x8xf32>)
    gpu.return
  }
}
