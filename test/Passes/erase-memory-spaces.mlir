// To a processor all memory is one: spaces of schedules leave the types of all that has one.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-erase-memory-spaces | FileCheck %s --implicit-check-not=mdh.memory

// Results, arguments of blocks, and what functions take and return.
// CHECK-LABEL: func.func @all(
// CHECK-SAME:    %{{.*}}: memref<8xf32>, %{{.*}}: i1, %{{.*}}: index) -> memref<?xf32, strided<[2], offset: ?>> {
// CHECK:         %[[A:.*]] = memref.alloca() : memref<8xf32>
// CHECK:         memref.subview {{.*}} : memref<8xf32> to memref<?xf32, strided<[2], offset: 1>>
// CHECK:         mdh.compute
// CHECK:           y = %[[A]][i] : memref<8xf32>
// CHECK:         cf.cond_br
// CHECK:       ^bb1(%{{.*}}: memref<8xf32>):
// CHECK:         call @all({{.*}}) : (memref<8xf32>, i1, index) -> memref<?xf32, strided<[2], offset: ?>>
func.func @all(%x: memref<8xf32, #mdh.memory<"L2">>, %is: i1, %n: index)
    -> memref<?xf32, strided<[2], offset: ?>, #mdh.memory<"shared", block>> {
  %a = memref.alloca() : memref<8xf32, #mdh.memory<"shared", block>>
  %view = memref.subview %a[1] [%n] [2]
    : memref<8xf32, #mdh.memory<"shared", block>> to memref<?xf32, strided<[2], offset: 1>, #mdh.memory<"shared", block>>
  %cast = memref.cast %view : memref<?xf32, strided<[2], offset: 1>, #mdh.memory<"shared", block>>
    to memref<?xf32, strided<[2], offset: ?>, #mdh.memory<"shared", block>>
  mdh.compute (i = 8)
    out_view(y = %a[i] : memref<8xf32, #mdh.memory<"shared", block>>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32, #mdh.memory<"L2">>)
  cf.cond_br %is, ^again(%x : memref<8xf32, #mdh.memory<"L2">>), ^end
^again(%y: memref<8xf32, #mdh.memory<"L2">>):
  %other = func.call @all(%y, %is, %n) : (memref<8xf32, #mdh.memory<"L2">>, i1, index)
    -> memref<?xf32, strided<[2], offset: ?>, #mdh.memory<"shared", block>>
  cf.br ^end
^end:
  return %cast : memref<?xf32, strided<[2], offset: ?>, #mdh.memory<"shared", block>>
}

// A launch has the memory of its blocks, which is seen as memory like any other.
// CHECK-LABEL: func.func @launch
// CHECK:       workgroup(%[[SHARED:.*]] : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK:         memref.memory_space_cast %[[SHARED]] : memref<8xf32, #gpu.address_space<workgroup>> to memref<8xf32>
func.func @launch(%e: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
      workgroup(%shared: memref<8xf32, #gpu.address_space<workgroup>>) {
    %a = memref.memory_space_cast %shared
      : memref<8xf32, #gpu.address_space<workgroup>> to memref<8xf32, #mdh.memory<"shared", block>>
    memref.store %e, %a[%tx] : memref<8xf32, #mdh.memory<"shared", block>>
    gpu.terminator
  }
  return
}

// Spaces that others gave memory stay, and so do layouts.
// Silent: no schedule asked for these spaces.
// CHECK-LABEL: func.func @others
// CHECK-SAME:    memref<8xf32, 3>
// CHECK:         memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// CHECK:         mdh.layout.view %{{.*}} : memref<4xf32> to memref<2x2xf32, #mdh.layout<
func.func @others(%x: memref<8xf32, 3>) {
  %a = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  %b = memref.alloca() : memref<4xf32, #mdh.memory<"register", thread>>
  %c = mdh.layout.view %b : memref<4xf32, #mdh.memory<"register", thread>> to memref<2x2xf32, #mdh.layout<GenP([2,2],reverse)>>
  return
}

// -----

// expected-error @+1 {{expected whose memory it is, block or thread, or '>' if it is everybody's}}
func.func private @malformed(memref<8xf32, #mdh.memory<"shared", grid>>)
