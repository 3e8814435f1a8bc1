// Cyclic parts: an outer layer's parts inside of an inner one's, in one dimension.
// RUN: mdh run %s --entry product --random 1 --check --check-each-step | FileCheck %s
// RUN: mdh run %s --entry strided --random 1 --check --check-each-step | FileCheck %s
// RUN: mdh run %s --entry open --random 1 --size i=1 --size k=1 --check | FileCheck %s
// RUN: mdh run %s --entry open --random 1 --size i=13 --size k=5 --check | FileCheck %s
// RUN: mdh run %s --entry open --random 1 --size i=50 --size k=77 --check | FileCheck %s
// RUN: mdh run %s --entry late --random 1 --check --check-each-step | FileCheck %s
// CHECK: check  passed

// Three levels of each dimension, none of them outside of where its layer is; B is packed over gaps.
func.func @product(%A: memref<23x31xf32>, %B: memref<31x37xf32>, %C: memref<23x37xf32>) {
  mdh.compute (i = 23, j = 37, k = 31)
    out_view(C = %C[i, j] : memref<23x37xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<23x31xf32>, B = %B[k, j] : memref<31x37xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: *, j: 2}, L3 {i: 2, j: *, k: *}, L2 {i: 2, j: 2, k: 3}, register {i: 3, k: 2}, simd {j: 4}],
      decompose = {order: [L2.j, L3.j, core.j, L2.k, L3.i, core.i, L3.k, L2.i, register.k, register.i, simd.j]},
      inputs = {B: {stage: {core.i: L2}, layout: {core.i: permuted(2, 1)}}},
      outputs = {C: {combine: {L3.k: L1, register.k: register}}}>)
  return
}

// Points at equal distances.
func.func @strided(%x: memref<101xf32>, %y: memref<101xf32>) {
  mdh.compute (i = 5 to 101 step 3)
    out_view(y = %y[i] : memref<101xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<101xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: *}, L2 {i: 3}, L1 {i: 2}],
      decompose = {order: [L1.i, core.i, L2.i]}>)
  return
}

// Sizes that only a run knows, and partial sums of cores inside of a loop over parts of theirs.
func.func @open(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  mdh.compute (i = %m, k = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<?x?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: *, k: *}, L1 {i: 2, k: 3}, register {i: 3}],
      decompose = {order: [L1.i, core.i, L1.k, core.k, register.i]}>)
  return
}

// Parts that are combined after a loop around them.
func.func @late(%x: memref<20x43xi32>, %y: memref<20xi32>) {
  mdh.compute (i = 20, k = 43)
    out_view(y = %y[i] : memref<20xi32>)
    md_hom(id, (cc, pw(addi)))
    inp_view(x = %x[i, k] : memref<20x43xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L3 {k: *}, L2 {k: 3}, L1 {i: *, k: 5}, register {i: 3}],
      decompose = {order: [L2.k, L3.k, L1.i, L1.k, register.i]},
      recompose = {order: [L3.k, L2.k, L1.i, L1.k, register.i]}>)
  return
}
