// What computations for a device read and write is in its memory.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-place-on-device | FileCheck %s

// Two that follow each other share what they have there; what only they use is nowhere else.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:  (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK:       gpu.memcpy %[[DX:[^ ]*]], %[[X]]
// CHECK:       mdh.compute
// CHECK:         inp_view(x = %[[DX]][i]
// CHECK-NOT:   gpu.memcpy
// CHECK:       mdh.compute
// CHECK:       gpu.memcpy %[[Y]], %[[DY:[^ ]*]]
// CHECK-NOT:   gpu.memcpy
// CHECK:       return
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  mdh.compute (i = 8)
    out_view(t = %t[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  memref.dealloc %t : memref<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @host
// CHECK-NOT:   gpu.
// CHECK:       return
func.func @host(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-remark @+1 {{stays on the host: expected a schedule for a machine that runs kernels, such as 'cuda'}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}]>)
  return
}

// -----

// What is on the device already is not copied, also where it is a part of it; other loops are the host's.
// CHECK-LABEL: func.func @there
// CHECK:       gpu.alloc
// CHECK-NOT:   gpu.alloc
// CHECK-NOT:   gpu.memcpy
// CHECK:       scf.forall
// CHECK:       } {mapping = [#gpu.thread<x>]}
// CHECK:       gpu.memcpy
// CHECK-NOT:   mapping
// CHECK:       return
func.func @there(%y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %x = gpu.alloc () : memref<8xf32>
  mdh.compute (i = 8)
    out_view(x = %x[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(from = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  scf.forall (%t) in (8) {
    %end = arith.addi %t, %c1 : index
    %own = memref.alloca() : memref<1xf32>
    mdh.compute (i = %t to %end)
      out_view(to = %own[i] origin(%t) : memref<1xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<8xf32>)
  } {mapping = [#gpu.thread<x>]}
  scf.forall (%t) in (8) {
    %end = arith.addi %t, %c1 : index
    mdh.compute (i = %t to %end)
      out_view(y = %y[i] : memref<8xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<8xf32>)
      schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  } {mapping = [#gpu.thread<x>]}
  gpu.dealloc %x : memref<8xf32>
  return
}

// -----

func.func @columns(%x: memref<8x8xf32, strided<[1, 8]>>, %y: memref<8x8xf32>) {
  // expected-error @+1 {{uses memref<8x8xf32, strided<[1, 8]>> on a device: expected memory that lies row by row}}
  mdh.compute (i = 8, j = 8)
    out_view(y = %y[i, j] : memref<8x8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x8xf32, strided<[1, 8]>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  return
}
