// Behind the last axis of several elements may come some of one: neighbours along it are neighbours in memory,
// and vectors are loaded and stored whole.
//
// RUN: mdh compile %s --entry channel --emit vector 2>/dev/null | FileCheck %s --check-prefix CHANNEL
// RUN: mdh run %s --entry channel --random 1 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
// CHANNEL:     vector.load %{{.*}} : memref<100x1000x1xf32>, vector
// CHANNEL-NOT: {{gather|scatter}}
//
// A transposition is one whatever comes behind.
// RUN: mdh compile %s --entry packed --emit vector 2>/dev/null | FileCheck %s --check-prefix PACKED
// RUN: mdh run %s --entry packed --random 1 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
// PACKED:     vector.shuffle
// PACKED-NOT: {{gather|scatter}}
//
// RUN: mdh run %s --entry backwards --random 1 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry image --random 1 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry bordered --random 1 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
//
// Every second element: memory has no neighbours along the axis before.
// RUN: mdh run %s --entry apart --random 1 --check=all 2>&1 | FileCheck %s --check-prefix PASSED
// PASSED: check passed

func.func @channel(%x: tensor<100x1000x1xf32>, %y: tensor<100x1000x1xf32>) -> tensor<100x1000x1xf32> {
  %r = linalg.exp ins(%x : tensor<100x1000x1xf32>) outs(%y : tensor<100x1000x1xf32>) -> tensor<100x1000x1xf32>
  return %r : tensor<100x1000x1xf32>
}

func.func @packed(%x: tensor<256x200xf32>, %y: tensor<200x256x1xf32>) -> tensor<200x256x1xf32> {
  %r = linalg.pack %x outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [1] into %y
      : tensor<256x200xf32> -> tensor<200x256x1xf32>
  return %r : tensor<200x256x1xf32>
}

func.func @backwards(%x: memref<99x1xi32>, %y: memref<99x1x1xi32>) {
  mdh.compute (i = 99)
    out_view(y = %y[i, 0, 0] : memref<99x1x1xi32>)
    md_hom(id, (cc))
    inp_view(x = %x[98 - i, 0] : memref<99x1xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}]>)
  return
}

func.func @bordered(%x: memref<70x1xf32>, %y: memref<70x1xf32>) {
  mdh.compute (i = 70, c = 1, r = 3)
    out_view(y = %y[i, c] : memref<70x1xf32>)
    md_hom(id, (cc, cc, pw(addf)))
    inp_view(x = %x[i + r - 1, c + r - 1] pad(0.5 : f32) : memref<70x1xf32>)
  return
}

func.func @apart(%x: memref<40x3x1xf32>, %y: memref<40x1xf32>) {
  %s = memref.subview %x[0, 1, 0] [40, 1, 1] [1, 1, 1] : memref<40x3x1xf32> to memref<40x1xf32, strided<[3, 1], offset: 1>>
  linalg.exp ins(%s : memref<40x1xf32, strided<[3, 1], offset: 1>>) outs(%y : memref<40x1xf32>)
  return
}

// An image of one channel.
func.func @image(%x: tensor<1x37x70x1xf32>, %w: tensor<3x3x1x1xf32>, %y: tensor<1x37x70x1xf32>) -> tensor<1x37x70x1xf32> {
  %half = arith.constant 0.5 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %i: index, %c: index):
    tensor.yield %half : f32
  } : tensor<1x37x70x1xf32> to tensor<1x39x72x1xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x39x72x1xf32>, tensor<3x3x1x1xf32>)
      outs(%y : tensor<1x37x70x1xf32>) -> tensor<1x37x70x1xf32>
  return %r : tensor<1x37x70x1xf32>
}
