// Summed-area tables: two prefix-sums, cut over blocks, threads and loops in every order, one of them in parts inside
// of the other one's.
//
// RUN: mdh run %s --entry parts --size i=20 --size j=30 --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry parts --size i=1 --size j=1 --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry threads --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry loops --device sim --report --random 1 --check | FileCheck %s
// RUN: %interpreted mdh run %s --entry threads --device cuda --random 1 --check | FileCheck %s --check-prefix CUDA
// RUN: mdh run %s --entry empty --in m=20 n=30 k=0 --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry empty --in m=20 n=30 k=2 --device sim --report --random 1 --check | FileCheck %s
// CHECK: no mistakes found
// CHECK: check passed
// CUDA:  check passed
//
// Tiles that are compiled again: what only loops over threads use is theirs.
// RUN: mdh run %s --entry threads --device sim --random 1 --out y=%t.threads.npy
// RUN: mdh compile %s --entry threads --device sim --emit tiles > %t.threads.mlir
// RUN: mdh run %t.threads.mlir --device sim --random 1 --out arg1=%t.again.npy
// RUN: cmp %t.threads.npy %t.again.npy
// RUN: mdh run %s --entry loops --device sim --random 1 --out y=%t.loops.npy
// RUN: mdh compile %s --entry loops --device sim --emit tiles > %t.loops.mlir
// RUN: mdh run %t.loops.mlir --device sim --random 1 --out arg1=%t.again.npy
// RUN: cmp %t.loops.npy %t.again.npy

// What tiles of one prefix-sum carry out is memory of the block that has them.
func.func @parts(%x: memref<?x?xi32>, %y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xi32>
  %m = memref.dim %x, %c1 : memref<?x?xi32>
  mdh.compute (i = %n, j = %m)
    out_view(y = %y[i, j] : memref<?x?xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<?x?xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, shared {i: 2}, register {j: 3}],
      decompose = {order: [block.j, block.i, register.j, shared.i]}>)
  return
}

func.func @threads(%x: memref<20x30xi32>, %y: memref<20x30xi32>) {
  mdh.compute (i = 20, j = 30)
    out_view(y = %y[i, j] : memref<20x30xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<20x30xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, warp {i: 2}, thread {i: 2, j: 4}, register {i: 2, j: 3}]>)
  return
}

func.func @loops(%x: memref<20x30xi32>, %y: memref<20x30xi32>) {
  mdh.compute (i = 20, j = 30)
    out_view(y = %y[i, j] : memref<20x30xi32>)
    md_hom(id, (ps(addi), ps(addi)))
    inp_view(x = %x[i, j] : memref<20x30xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {i: *}, block {j: *}, shared {i: 2, j: 2}, thread {i: 3, j: 2}, register {j: 2}],
      decompose = {order: [device.i, block.j, shared.j, shared.i, thread.i, thread.j, register.j]}>)
  return
}

// Without points only what comes in is left: no memory between the two, which a kernel takes of known sizes only.
func.func @empty(%x: memref<20x30x2xi32>, %in: memref<i32>, %y: memref<20x30xi32>, %m: index, %n: index, %k: index) {
  mdh.compute (i = %m, j = %n, k = %k)
    out_view(y = %y[i, j] : memref<20x30xi32>)
    md_hom(id, (ps(addi), ps(addi), pw(addi)))
    inp_view(x = %x[i, j, k] : memref<20x30x2xi32>)
    carry k (in = %in[] : memref<i32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {i: *, j: *, k: *}]>)
  return
}
