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

// CHECK-LABEL: func.func @several
// CHECK-NOT:   gpu.launch
// CHECK:       scf.forall
func.func @several(%x: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{becomes no kernel: it has several variables, expected one}}
  scf.forall (%i, %j) in (8, 8) {
    memref.store %zero, %x[%i, %j] : memref<8x8xf32>
  } {mapping = [#gpu.block<x>, #gpu.block<y>]}
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

// -----

func.func @swapped() {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %a = gpu.alloc () : memref<32x16xf16>
  %b = gpu.alloc () : memref<16x32xf16>
  %c = gpu.alloc () : memref<32x32xf32>
  // expected-error @+1 {{a computation has a schedule whose kernel computes a product of matrices whose columns 'i' differ along 'thread.y': expected its rows to be those of 'thread.y', its columns those of 'thread.x', and all else the same for all threads of a warp}}
  scf.forall (%y) in (8) {
    %i = arith.muli %y, %c2 : index
    %i_end = arith.addi %i, %c2 : index
    scf.forall (%x) in (4) {
      %j = arith.muli %x, %c2 : index
      %j_end = arith.addi %j, %c2 : index
      mdh.compute (i = %i to %i_end, j = %j to %j_end, k = 16)
        out_view(C = %c[i, j] : memref<32x32xf32>)
        md_hom((%p: f16, %q: f16) {
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          mdh.yield %2 : f32
        }, (cc, cc, pw(addf)))
        inp_view(A = %a[i, k] : memref<32x16xf16>, B = %b[k, j] : memref<16x32xf16>)
        schedule(#mdh.schedule<asm = cuda, layers = [mma {i: 2, j: 2, k: 16}]>)
        threads(matrix(j, i))
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.thread<y>]}
  return
}

// -----

func.func @apart() {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %a = gpu.alloc () : memref<32x16xf16>
  %b = gpu.alloc () : memref<16x32xf16>
  %c = gpu.alloc () : memref<32x32xf32>
  // expected-error @+1 {{a computation has a schedule whose kernel computes a product of matrices, of which neighbours along 'thread.x' have columns 'j' 8 apart: expected 2, as far as those of each of them reach}}
  scf.forall (%y) in (8) {
    %i = arith.muli %y, %c2 : index
    %i_end = arith.addi %i, %c2 : index
    scf.forall (%x) in (4) {
      %j = arith.muli %x, %c8 : index
      %j_end = arith.addi %j, %c2 : index
      mdh.compute (i = %i to %i_end, j = %j to %j_end, k = 16)
        out_view(C = %c[i, j] : memref<32x32xf32>)
        md_hom((%p: f16, %q: f16) {
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          mdh.yield %2 : f32
        }, (cc, cc, pw(addf)))
        inp_view(A = %a[i, k] : memref<32x16xf16>, B = %b[k, j] : memref<16x32xf16>)
        schedule(#mdh.schedule<asm = cuda, layers = [mma {i: 2, j: 2, k: 16}]>)
        threads(matrix(i, j))
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.thread<y>]}
  return
}

// -----

func.func @outside_of_a_loop() {
  %a = gpu.alloc () : memref<8x16xf32>
  %b = gpu.alloc () : memref<16x8xf32>
  %c = gpu.alloc () : memref<8x8xf32>
  // expected-error @+1 {{a computation has a schedule whose kernel computes a product of matrices outside of the loop over 'thread.x': expected it inside of all loops over warps and threads}}
  scf.forall (%b0) in (1) {
    mdh.compute (i = 8, j = 8, k = 16)
      out_view(C = %c[i, j] : memref<8x8xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %a[i, k] : memref<8x16xf32>, B = %b[k, j] : memref<16x8xf32>)
      threads(matrix(i, j))
    scf.forall (%t) in (4) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %c[%t, %t] : memref<8x8xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @no_warp() {
  %a = gpu.alloc () : memref<8x16xf32>
  %b = gpu.alloc () : memref<16x8xf32>
  %c = gpu.alloc () : memref<8x8xf32>
  // expected-error @+1 {{computes a product of matrices, but has one thread: found it outside of all parallel loops of the device, expected it inside of the loops over the threads of a warp, or no 'threads'}}
  mdh.compute (i = 8, j = 8, k = 16)
    out_view(C = %c[i, j] : memref<8x8xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %a[i, k] : memref<8x16xf32>, B = %b[k, j] : memref<16x8xf32>)
    threads(matrix(i, j))
  return
}

// -----

func.func @no_lanes() {
  %x = gpu.alloc () : memref<1xf32>
  %y = gpu.alloc () : memref<f32>
  // expected-error @+1 {{combines results of threads, but has one thread: found it outside of all parallel loops of the device, expected it inside of the loops over the threads of a warp, or no 'threads'}}
  mdh.compute (part = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[0] : memref<1xf32>)
    threads(lanes(part = thread.x))
  return
}

// -----

func.func @other_lanes() {
  %x = gpu.alloc () : memref<1xf32>
  %y = gpu.alloc () : memref<f32>
  // expected-error @+1 {{a computation has a schedule whose kernel combines results of threads of 'thread.y', which it has not: found loops over 'thread.x', expected one of them}}
  scf.forall (%b) in (1) {
    scf.forall (%t) in (8) {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      memref.store %zero, %x[%c0] : memref<1xf32>
    } {mapping = [#gpu.thread<x>]}
    mdh.compute (part = 8)
      out_view(y = %y[] : memref<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[0] : memref<1xf32>)
      threads(lanes(part = thread.y))
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @more_parts_than_threads(%x: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{a computation has a schedule whose kernel shares 8 parts of a cooperative loop out to 4 threads: expected at most one for each}}
  scf.forall (%b) in (1) {
    scf.forall (%t) in (8) {
      memref.store %zero, %x[%t] : memref<8xf32>
    } {mapping = [#gpu.thread<x>], mdh.cooperative}
    scf.forall (%t) in (4) {
      memref.store %zero, %x[%t] : memref<8xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// As many threads as the largest loop of an axis has parts: the others have a part of another one only if there is one.
// CHECK-LABEL: func.func @fewer_parts
// CHECK:       gpu.launch {{.*}} threads(%[[T:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c8
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[T]]]
// CHECK:         %[[IS_THERE:.*]] = arith.cmpi slt, %[[T]], %c3
// CHECK:         scf.if %[[IS_THERE]] {
// CHECK-NEXT:      memref.store %{{.*}}, %{{.*}}[%[[T]]]
func.func @fewer_parts(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%b) in (1) {
    scf.forall (%t) in (8) {
      memref.store %zero, %x[%t] : memref<8xf32>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%t) in (3) {
      memref.store %zero, %y[%t] : memref<8xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}
