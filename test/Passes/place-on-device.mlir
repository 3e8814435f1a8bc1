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

// What does not lie row by row goes by way of memory that does: what is read and what is written of it.
// CHECK-LABEL: func.func @columns
// CHECK-SAME:  (%[[X:.*]]: memref<8x?xf32, strided<[?, 2], offset: ?>>, %[[Y:.*]]: memref<8x8xf32, strided<[1, 8]>>)
// CHECK:       %[[DY:.*]] = gpu.alloc () : memref<8x8xf32>
// CHECK:       %[[RY:.*]] = memref.alloc() : memref<8x8xf32>
// CHECK-NEXT:  memref.copy %[[Y]], %[[RY]]
// CHECK-NEXT:  gpu.memcpy %[[DY]], %[[RY]]
// CHECK:       %[[N:.*]] = memref.dim %[[X]]
// CHECK:       %[[DX:.*]] = gpu.alloc (%[[N]]) : memref<8x?xf32>
// CHECK:       %[[M:.*]] = memref.dim %[[X]]
// CHECK:       %[[RX:.*]] = memref.alloc(%[[M]]) : memref<8x?xf32>
// CHECK-NEXT:  memref.copy %[[X]], %[[RX]]
// CHECK-NEXT:  gpu.memcpy %[[DX]], %[[RX]]
// CHECK:       out_view(y = %[[DY]][i, j] : memref<8x8xf32>)
// CHECK:       inp_view(x = %[[DX]][i, j] : memref<8x?xf32>)
// CHECK:       gpu.memcpy %[[RY]], %[[DY]]
// CHECK-NEXT:  memref.copy %[[RY]], %[[Y]]
// CHECK-NEXT:  memref.dealloc %[[RY]]
// CHECK-NEXT:  gpu.dealloc %[[DY]]
// CHECK-NEXT:  memref.dealloc %[[RX]]
// CHECK-NEXT:  gpu.dealloc %[[DX]]
func.func @columns(%x: memref<8x?xf32, strided<[?, 2], offset: ?>>, %y: memref<8x8xf32, strided<[1, 8]>>) {
  mdh.compute (i = 8, j = 7)
    out_view(y = %y[i, j] : memref<8x8xf32, strided<[1, 8]>>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x?xf32, strided<[?, 2], offset: ?>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  return
}

// -----

// What is written whole, before it is read, need not be there before; of two computations, the first one counts.
// CHECK-LABEL: func.func @whole
// CHECK-SAME:  (%{{.*}}: memref<8xf32>, %[[Y:.*]]: memref<8xf32, strided<[2]>>, %[[Z:.*]]: memref<8xf32, strided<[2]>>)
// CHECK-NOT:   memref.copy %[[Y]]
// CHECK:       memref.copy %[[Z]], %
// CHECK-NOT:   memref.copy
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       mdh.compute
// CHECK:       memref.copy %{{.*}}, %[[Y]]
// CHECK:       memref.copy %{{.*}}, %[[Z]]
func.func @whole(%x: memref<8xf32>, %y: memref<8xf32, strided<[2]>>, %z: memref<8xf32, strided<[2]>>) {
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32, strided<[2]>>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : memref<8xf32>, z = %z[i] : memref<8xf32, strided<[2]>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  mdh.compute (i = 8)
    out_view(z = %z[i] : memref<8xf32, strided<[2]>>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : memref<8xf32>, y = %y[i] : memref<8xf32, strided<[2]>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  return
}

// -----

// Rows of something lie row by row, wherever they start; what only computations use need not be copied.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:   memref.copy
// CHECK:       %[[D:.*]] = gpu.alloc () : memref<3x1x8xf32>
// CHECK:       gpu.memcpy %[[D]], %{{.*}} : memref<3x1x8xf32>, memref<3x1x8xf32, strided<[8, 5, 1], offset: ?>>
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @rows(%x: memref<3x1x8xf32, strided<[8, 5, 1], offset: ?>>) {
  %t = memref.alloc() : memref<3x8xf32, strided<[1, 3]>>
  mdh.compute (i = 3, j = 8)
    out_view(t = %t[i, j] : memref<3x8xf32, strided<[1, 3]>>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, 0, j] : memref<3x1x8xf32, strided<[8, 5, 1], offset: ?>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  mdh.compute (i = 3, j = 8)
    out_view(x = %x[i, 0, j] : memref<3x1x8xf32, strided<[8, 5, 1], offset: ?>>)
    md_hom(id, (cc, cc))
    inp_view(t = %t[i, j] : memref<3x8xf32, strided<[1, 3]>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  memref.dealloc %t : memref<3x8xf32, strided<[1, 3]>>
  return
}

// -----

func.func @turns(%x: memref<8xf32, affine_map<(i) -> (i mod 4)>>, %y: memref<8xf32>) {
  // expected-error @+1 {{uses memref<8xf32, affine_map<(d0) -> (d0 mod 4)>> on a device: expected elements that lie row by row, or by strides; copy them into other memory}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32, affine_map<(i) -> (i mod 4)>>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  return
}

// -----

func.func @one_place(%x: memref<8xf32>, %y: memref<8xf32, strided<[0]>>) {
  // expected-error @+1 {{writes a part of memref<8xf32, strided<[0]>> on a device: found a stride of 0, expected memory with a place for each element}}
  mdh.compute (i = 1)
    out_view(y = %y[i] : memref<8xf32, strided<[0]>>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
  return
}

// -----

// Arrays that a caller has given on the device stay there, temporaries are there, and what the host has goes there.
// CHECK-LABEL: func.func @given
// CHECK-SAME:  (%[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK-NOT:   gpu.memcpy
// CHECK:       %[[T:.*]] = gpu.alloc
// CHECK-NOT:   gpu.memcpy
// CHECK:       out_view(t = %[[T]][i]
// CHECK:       inp_view(x = %[[X]][i]
// CHECK:       out_view(y = %[[Y]][i]
// CHECK-NOT:   gpu.memcpy
// CHECK:       return
func.func @given(%x: memref<8xf32>, %y: memref<8xf32>) attributes {mdh.device_memory} {
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

// One that the model has no schedule for is the device's too.
// CHECK-LABEL: func.func @unscheduled
// CHECK:       %[[T:.*]] = gpu.alloc
// CHECK:       gpu.memcpy %[[T]]
// CHECK:       inp_view(t = %[[T]][i]
// CHECK:       return
memref.global "private" constant @table : memref<8xf32> = dense<2.0>
func.func @unscheduled(%y: memref<8xf32>) attributes {mdh.device_memory} {
  %t = memref.get_global @table : memref<8xf32>
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[i] : memref<8xf32>)
  return
}

// -----

func.func @read(%x: memref<8xf32>) -> f32 attributes {mdh.device_memory} {
  %c0 = arith.constant 0 : index
  %part = memref.subview %x[1] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 1>>
  // expected-error @+1 {{'memref.load' op is the host's, and uses an array in the device's memory: expected computations with schedules for 'cuda' alone; pass arrays in the host's memory}}
  %y = memref.load %part[%c0] : memref<4xf32, strided<[1], offset: 1>>
  return %y : f32
}

// -----

func.func @scheduled(%x: memref<8xf32>, %y: memref<8xf32>) attributes {mdh.device_memory} {
  // expected-remark @+2 {{stays on the host: expected a schedule for a machine that runs kernels, such as 'cuda'}}
  // expected-error @+1 {{'mdh.compute' op is the host's}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}]>)
  return
}

// -----

func.func @called(%x: memref<8xf32>) attributes {mdh.device_memory} {
  // expected-error @+1 {{'func.call' op is the host's}}
  call @host(%x) : (memref<8xf32>) -> ()
  call @device(%x) : (memref<8xf32>) -> ()
  return
}
func.func private @host(%x: memref<8xf32>)
func.func private @device(%x: memref<8xf32>) attributes {mdh.device_memory}
