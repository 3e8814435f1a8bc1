// Parallel loops of blocks and threads become kernels.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-map-kernels | FileCheck %s

// CHECK-LABEL: func.func @map
// CHECK:       gpu.launch blocks(%[[B:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c8{{.*}}, %{{.*}} = %c1{{.*}}) threads(%[[T:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c128
// CHECK-SAME:    module(@map_kernels) function(@map_0)
// CHECK-NOT:   scf.forall
// CHECK:         %[[FROM:.*]] = arith.muli %[[B]]
// CHECK:         %[[I:.*]] = arith.addi %[[FROM]], %[[T]]
// CHECK:         scf.if
// CHECK:           mdh.compute (i = %[[I]] to
// CHECK:         gpu.terminator
func.func @map(%n: index) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %x = gpu.alloc () : memref<1000xf32>
  scf.forall (%b) in (8) {
    %from = arith.muli %b, %c128 : index
    scf.forall (%t) in (128) {
      %i = arith.addi %from, %t : index
      %end = arith.addi %i, %c1 : index
      %is_there = arith.cmpi slt, %i, %n : index
      scf.if %is_there {
        mdh.compute (i = %i to %end)
          out_view(x = %x[i] : memref<1000xf32>)
          md_hom(id, (cc))
          inp_view(y = %x[i] : memref<1000xf32>)
      }
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  gpu.dealloc %x : memref<1000xf32>
  return
}

// Memory of a block is the launch's, and that of a thread is taken where its code starts. Threads wait for each other
// before they read what others have written for the block; what is a thread's own no other one reads.
// CHECK-LABEL: func.func @memory
// CHECK:       gpu.launch {{.*}} workgroup(%[[SHARED:.*]] : memref<128xf32, #gpu.address_space<workgroup>>)
// CHECK-DAG:     %[[TILE:.*]] = memref.memory_space_cast %[[SHARED]] : {{.*}} to memref<128xf32, #mdh.memory<"shared", block>>
// CHECK-DAG:     %[[OWN:.*]] = memref.alloca() : memref<1xf32, #mdh.memory<"register", thread>>
// CHECK-NOT:     gpu.barrier
// CHECK:           out_view(own = %[[OWN]]
// CHECK-NOT:     gpu.barrier
// CHECK:           out_view(tile = %[[TILE]]
// CHECK:         gpu.barrier
// CHECK:           inp_view(tile = %[[TILE]]
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.terminator
func.func @memory() {
  %c1 = arith.constant 1 : index
  %x = gpu.alloc () : memref<128xf32>
  %y = gpu.alloc () : memref<128xf32>
  scf.forall (%b) in (1) {
    %tile = memref.alloca() : memref<128xf32, #mdh.memory<"shared", block>>
    %own = memref.alloca() : memref<1xf32, #mdh.memory<"register", thread>>
    scf.forall (%t) in (128) {
      %next = arith.addi %t, %c1 : index
      mdh.compute (i = %t to %next)
        out_view(own = %own[i] origin(%t) : memref<1xf32, #mdh.memory<"register", thread>>)
        md_hom(id, (cc))
        inp_view(x = %x[i] : memref<128xf32>)
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%t) in (128) {
      %next = arith.addi %t, %c1 : index
      mdh.compute (i = %t to %next)
        out_view(tile = %tile[i] : memref<128xf32, #mdh.memory<"shared", block>>)
        md_hom(id, (cc))
        inp_view(own = %own[i] origin(%t) : memref<1xf32, #mdh.memory<"register", thread>>)
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%t) in (128) {
      %next = arith.addi %t, %c1 : index
      mdh.compute (i = %t to %next)
        out_view(y = %y[i] : memref<128xf32>)
        md_hom(id, (cc))
        inp_view(tile = %tile[127 - i] : memref<128xf32, #mdh.memory<"shared", block>>)
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  gpu.dealloc %x : memref<128xf32>
  gpu.dealloc %y : memref<128xf32>
  return
}

// A computation on memory of the device outside of all loops is a kernel of one thread.
// CHECK-LABEL: func.func @alone
// CHECK:       gpu.launch {{.*}} module(@alone_kernels) function(@alone_0)
// CHECK:         mdh.compute
func.func @alone() {
  %x = gpu.alloc () : memref<8xf32>
  mdh.compute (i = 8)
    out_view(x = %x[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(y = %x[i] : memref<8xf32>)
  gpu.dealloc %x : memref<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @cores
// CHECK-NOT:   gpu.launch
// CHECK:       scf.forall
func.func @cores(%x: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{becomes no kernel: expected loops over 'block', 'warp' or 'thread' in it}}
  scf.forall (%i) in (8) {
    memref.store %zero, %x[%i] : memref<8xf32>
  } {mapping = [#mdh.core<"core", 0>]}
  return
}

// -----

func.func @outside(%x: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{a computation has a schedule whose kernel has blocks inside of threads: expected blocks outside}}
  scf.forall (%t) in (8) {
    scf.forall (%b) in (8) {
      memref.store %zero, %x[%b] : memref<64xf32>
    } {mapping = [#gpu.block<x>]}
  } {mapping = [#gpu.thread<x>]}
  return
}
