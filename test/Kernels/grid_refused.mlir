// RUN: mdh-opt %s --mdh-tile --verify-diagnostics --split-input-file

// As many threads as there are points.
func.func @open(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  // expected-error @below {{has a schedule with as many parts of 'thread.i' as 'i' has points, a number that is not known before it runs: expected a number of threads, and '*' in another layer}}
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: 4}, thread {i: *}]>)
  return
}

// -----

func.func @warps(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  // expected-error @below {{has a schedule with as many parts of 'warp.i' as 'i' has points, a number that is not known before it runs: expected a number of warps, and '*' in another layer}}
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [warp {i: *}, thread {i: 32}]>)
  return
}

// -----

func.func @inside_of_threads(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @below {{has a schedule whose order has 'block.j' inside of 'thread.i', whose parts are those of one block: expected blocks outside of all loops but those around all blocks}}
  mdh.compute (i = 64, j = 64)
    out_view(y = %y[i, j] : memref<64x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8}],
      decompose = {order: [block.i, thread.i, block.j]}>)
  return
}

// -----

func.func @inside_of_a_loop(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @below {{has a schedule whose order has 'block.j' inside of 'shared.i', which each block goes through: expected blocks outside of all loops but those around all blocks}}
  mdh.compute (i = 64, j = 64)
    out_view(y = %y[i, j] : memref<64x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, shared {i: 8}, thread {j: 8}],
      decompose = {order: [block.i, shared.i, block.j, thread.j]}>)
  return
}

// -----

// Threads inside of a loop wait for each other, but each part of 'thread.i' has its own iterations.
func.func @unequal(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  // expected-error @below {{has a schedule whose level 'thread.j' has threads inside of 'register.i', in which they wait for each other, but that not all of them go through equally: expected 'register.i' inside of the loops over threads, or in a dimension that threads do not share}}
  mdh.compute (i = 64, j = 64)
    out_view(y = %y[i, j] : memref<64x64xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 8}, register {i: 2}],
      decompose = {order: [block.i, block.j, thread.i, register.i, thread.j]}>)
  return
}
