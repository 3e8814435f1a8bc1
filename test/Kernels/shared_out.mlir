// What the threads of a block share out one after the other under a condition of the block: where one needs what
// another has written, they wait for each other.
//
// RUN: mdh run %s --entry sums --device sim --random 1 --check=all --in i=3 j=3 --report | FileCheck %s
// RUN: %interpreted mdh run %s --entry sums --device cuda --random 1 --check=all --in i=3 j=3 | FileCheck %s --check-prefix CUDA
// CHECK: no mistakes found
// CHECK: check passed
// CUDA:  check passed
//
// RUN: mdh compile %s --entry sums --device sim --emit kernels | FileCheck %s --check-prefix KERNELS
// KERNELS:      out_view(C = %[[TILE:.*]][0, 0, i, j]
// KERNELS:      gpu.barrier
// KERNELS:      inp_view(from = %[[TILE]][0, 0, i, j]

// Parts of blocks are combined in the device's memory, in another order than the result's.
func.func @sums(%A: tensor<4x3xf32>, %B: tensor<3x4xf32>, %i: index, %j: index) -> tensor<3x3xf32> {
  %e = tensor.empty() : tensor<3x3xf32>
  %0 = mdh.compute (i = %i, j = %j, k = 4)
    out_view(C = %e[j, i] : tensor<3x3xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[k, i] : tensor<4x3xf32>, B = %B[j, k] : tensor<3x4xf32>)
    schedule(#mdh.schedule<
      asm = cuda,
      layers = [device {k: *}, block {i: 2, j: *, k: 2}, thread {j: 2}],
      decompose = {order: [device.i, device.j, block.j, block.i, block.k, thread.j, device.k],
        assign: {block.i: block.y, block.j: block.x, thread.i: thread.y, thread.j: thread.x}},
      outputs = {C: {combine: {block.k: device}, layout: {block.k: permuted(2, 1)}}}>)
  return %0 : tensor<3x3xf32>
}
