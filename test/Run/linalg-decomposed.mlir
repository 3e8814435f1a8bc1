// What has no loops of its own runs by upstream's lowering too, which decomposes it.
//
// RUN: mdh run %s --no-raise --check=all --entry softmax --random 1 | FileCheck %s --check-prefix SOFTMAX
// RUN: mdh run %s --no-raise --check=all --entry softmax_memory --random 1 2>&1 | FileCheck %s --check-prefix MEMORY
// MEMORY-NOT: raised
// MEMORY: check passed: 60 of 60 elements compared, {{.*}}; 60 told from zero
// RUN: mdh run %s --no-raise --check=all --entry softmax_open --random 1 | FileCheck %s --check-prefix SOFTMAX
// SOFTMAX: check passed: 60 of 60 elements compared, {{.*}}; 60 told from zero
//
// Along an axis without elements there is nothing to do.
// RUN: mdh run %s --check=all --entry softmax_empty --random 1 | FileCheck %s --check-prefix NOTHING
// RUN: mdh run %s --no-raise --check=all --entry softmax_empty --random 1 | FileCheck %s --check-prefix NOTHING
// NOTHING: check passed: 0 of 0 elements compared
//
// RUN: mdh run %s --no-raise --check=all --entry pack --random 1 | FileCheck %s --check-prefix PACK
// PACK: check passed: 72 of 72 elements compared, no difference
//
// RUN: mdh run %s --no-raise --check=all --entry unpack --random 1 | FileCheck %s --check-prefix UNPACK
// UNPACK: check passed: 56 of 56 elements compared, no difference
//
// So do tiles of a size that is known at run time only, which upstream takes apart but does not make.
// RUN: mdh run %s --no-raise --check=all --entry unpack_open --in t=3 --random 1 2>&1 | FileCheck %s --check-prefix OPEN
// RUN: mdh run %s --check=all --entry unpack_open --in t=3 --random 1 2>&1 | FileCheck %s --check-prefix OPEN
// OPEN: check passed: 91 of 91 elements compared, no difference
//
// RUN: not mdh run %s --entry pack_open --in t=4 --random 1 2>&1 | FileCheck %s --check-prefix REFUSED
// REFUSED: warning: 'linalg.pack' op stays as it is: a tile has a size that is known at run time only: expected numbers
// REFUSED: error: op was not bufferized
//
// So does what stays when all else is raised: padding that no constant gives.
// RUN: mdh run %s --check=all --entry pack_given --random 1 2>&1 | FileCheck %s --check-prefix GIVEN
// GIVEN: warning: 'linalg.pack' op stays as it is: what it is padded with is no constant
// GIVEN: check passed: 72 of 72 elements compared, no difference
//
// The transformations of Winograd's convolution are what upstream makes of them, to the oracle as well.
// RUN: mdh run %s --no-raise --check=all --entry winograd --random 1 | FileCheck %s --check-prefix WINOGRAD
// RUN: mdh run %s --check=all --entry winograd --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,WINOGRAD
// RAISED: note: {{[0-9]+}} operation{{s?}} of linalg raised
// WINOGRAD: check passed: 360 of 360 elements compared

func.func @softmax(%x: tensor<4x5x3xf32>, %y: tensor<4x5x3xf32>) -> tensor<4x5x3xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x5x3xf32>) outs(%y : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %r : tensor<4x5x3xf32>
}

// Upstream's own decomposition makes something invalid of operands of different types.
func.func @softmax_open(%x: tensor<4x5x3xf32>, %y: tensor<4x5x3xf32>) -> tensor<?x5x3xf32> {
  %o = tensor.cast %y : tensor<4x5x3xf32> to tensor<?x5x3xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x5x3xf32>) outs(%o : tensor<?x5x3xf32>) -> tensor<?x5x3xf32>
  return %r : tensor<?x5x3xf32>
}

func.func @softmax_empty(%x: tensor<4x0xf32>, %y: tensor<4x0xf32>) -> tensor<4x0xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x0xf32>) outs(%y : tensor<4x0xf32>) -> tensor<4x0xf32>
  return %r : tensor<4x0xf32>
}

func.func @softmax_memory(%x: memref<4x5x3xf32>, %y: memref<4x5x3xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<4x5x3xf32>) outs(%y : memref<4x5x3xf32>)
  return
}

func.func @pack(%x: tensor<7x8xf32>, %y: tensor<4x3x2x3xf32>) -> tensor<4x3x2x3xf32> {
  %half = arith.constant 0.5 : f32
  %r = linalg.pack %x padding_value(%half : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %y
      : tensor<7x8xf32> -> tensor<4x3x2x3xf32>
  return %r : tensor<4x3x2x3xf32>
}

func.func @pack_given(%x: tensor<7x8xf32>, %y: tensor<4x3x2x3xf32>, %p: tensor<1xf32>) -> tensor<4x3x2x3xf32> {
  %c0 = arith.constant 0 : index
  %given = tensor.extract %p[%c0] : tensor<1xf32>
  %r = linalg.pack %x padding_value(%given : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %y
      : tensor<7x8xf32> -> tensor<4x3x2x3xf32>
  return %r : tensor<4x3x2x3xf32>
}

func.func @unpack(%x: tensor<3x4x2x3xf32>, %y: tensor<7x8xf32>) -> tensor<7x8xf32> {
  %r = linalg.unpack %x outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %y
      : tensor<3x4x2x3xf32> -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}

func.func @winograd(%x: tensor<2x3x3x5xf32>, %y: tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32> {
  %r = linalg.winograd_filter_transform fmr(F_4_3) ins(%x : tensor<2x3x3x5xf32>) outs(%y : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return %r : tensor<6x6x5x2xf32>
}

func.func @pack_open(%x: tensor<10x7xf32>, %t: index) -> tensor<4x?x?x2xf32> {
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  %n = arith.ceildivsi %c10, %t : index
  %e = tensor.empty(%n, %t) : tensor<4x?x?x2xf32>
  %r = linalg.pack %x padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%t, 2]
      into %e : tensor<10x7xf32> -> tensor<4x?x?x2xf32>
  return %r : tensor<4x?x?x2xf32>
}

func.func @unpack_open(%x: tensor<4x5x3x2xf32>, %t: index, %y: tensor<13x7xf32>) -> tensor<13x7xf32> {
  %o = tensor.cast %x : tensor<4x5x3x2xf32> to tensor<4x?x?x2xf32>
  %r = linalg.unpack %o outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%t, 2]
      into %y : tensor<4x?x?x2xf32> -> tensor<13x7xf32>
  return %r : tensor<13x7xf32>
}
