// Schedules of blocks, threads and registers, on a simulated GPU: loops over parts, partial results of threads and of
// blocks, dimensions that divide nothing.
//
// RUN: mdh run %s --entry map --device sim --report --random 1 --check | FileCheck %s --check-prefix MAP
// RUN: mdh run %s --entry dot --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry scan --device sim --random 1 --check | FileCheck %s --check-prefix SCAN
// RUN: mdh run %s --entry product --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry ordered --device sim --report --random 1 --check | FileCheck %s
// MAP:      sim 1 launch, 8 blocks
// MAP-NEXT: no mistakes found
// MAP-NEXT: {{.*}}: 96 accesses to device memory moved 375 sectors, at best 375
// MAP:      check passed: 1000 of 1000
// SCAN:     check passed
// CHECK:    no mistakes found
// CHECK:    check passed
func.func @map(%x: memref<1000xf32>, %z: memref<1000xf32>, %y: memref<1000xf32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[i] : memref<1000xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : memref<1000xf32>, z = %z[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 128}]>)
  return
}

func.func @dot(%x: memref<1000xf32>, %z: memref<1000xf32>, %y: memref<f32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[] : memref<f32>)
    md_hom(mulf, (pw(addf)))
    inp_view(x = %x[i] : memref<1000xf32>, z = %z[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 64}, register {i: 4}]>)
  return
}

func.func @scan(%x: memref<1000xi32>, %y: memref<1000xi32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[i] : memref<1000xi32>)
    md_hom(id, (ps(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 64}, register {i: 4}]>)
  return
}

func.func @product(%A: memref<63x48xf32>, %B: memref<48x81xf32>, %C: memref<63x81xf32>) {
  mdh.compute (i = 63, j = 81, k = 48)
    out_view(C = %C[i, j] : memref<63x81xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<63x48xf32>, B = %B[k, j] : memref<48x81xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 16}, register {i: 2, j: 2, k: *}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, register.i, register.j]}>)
  return
}

// Blocks of two dimensions in an order of their own are blocks, and so are those inside of them.
func.func @ordered(%x: memref<2x3x5xf32>, %y: memref<2x3x5xf32>) {
  mdh.compute (b = 2, i = 3, j = 5)
    out_view(y = %y[b, i, j] : memref<2x3x5xf32>)
    md_hom(id, (cc, cc, cc))
    inp_view(x = %x[b, i, j] : memref<2x3x5xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {b: *, i: *, j: *}, thread {j: 2}],
      tile_order = {levels: [block.b, block.i], layout: "GenP([2,3],reverse)"}>)
  return
}
