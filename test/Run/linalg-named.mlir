// Named operations of linalg, loops over tiles, loops with stores and other shapes of tensors run as
// upstream lowers them, and are checked against what the oracle makes of what is written.
//
// RUN: mdh run %s --check=all --entry product | FileCheck %s --check-prefix PRODUCT
// PRODUCT: check passed: 480 of 480 elements compared, largest error {{.*}}; {{4[5-8][0-9]}} told from zero
//
// RUN: mdh run %s --check=all --entry convolution | FileCheck %s --check-prefix CONVOLUTION
// CONVOLUTION: check passed: 256 of 256 elements compared, largest error {{.*}}; {{2[45][0-9]}} told from zero
//
// RUN: mdh run %s --check=all --entry pooled --range=x=1..2 | FileCheck %s --check-prefix POOLED
// POOLED: check passed: 64 of 64 elements compared, no difference; 64 told from zero
//
// RUN: mdh run %s --check=all --entry several --range=x=1..2 | FileCheck %s --check-prefix SEVERAL
// SEVERAL: check passed: 52 of 52 elements compared, {{.*}}; 52 told from zero
//
// RUN: mdh run %s --check=all --entry tiles | FileCheck %s --check-prefix TILES
// TILES: check passed: 96 of 96 elements compared, largest error {{.*}}; {{9[0-6]|8[0-9]}} told from zero
//
// RUN: mdh run %s --check=all --entry loops | FileCheck %s --check-prefix LOOPS
// LOOPS: check passed: 7500 of 7500 elements compared, no difference; 7{{[45][0-9][0-9]}} told from zero
//
// RUN: mdh run %s --check=all --entry inserted --range=x=1..100 | FileCheck %s --check-prefix INSERTED
// INSERTED: check passed: 3000 of 3000 elements compared, no difference; {{29[0-9][0-9]|3000}} told from zero
//
// RUN: mdh run %s --check=all --entry views --range=m=1..2 | FileCheck %s --check-prefix VIEWS
// VIEWS: check passed: 48 of 48 elements compared, no difference; 48 told from zero

func.func @product(%x: tensor<24x16xf32>, %w: tensor<16x20xf32>) -> tensor<24x20xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x20xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<24x20xf32>) -> tensor<24x20xf32>
  %y = linalg.matmul ins(%x, %w : tensor<24x16xf32>, tensor<16x20xf32>) outs(%i : tensor<24x20xf32>) -> tensor<24x20xf32>
  return %y : tensor<24x20xf32>
}

func.func @convolution(%x: tensor<1x10x10x3xf32>, %w: tensor<3x3x3x4xf32>, %o: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x10x10x3xf32>, tensor<3x3x3x4xf32>) outs(%o : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

func.func @pooled(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32> {
  %low = arith.constant dense<0.0> : tensor<1x4x4x4xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%x, %window : tensor<1x8x8x4xf32>, tensor<2x2xf32>) outs(%low : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}

func.func @several(%x: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<4x6xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %f = tensor.empty() : tensor<4x6xf32>
  %t = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x6xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<4xf32>) outs(%f : tensor<4x6xf32>) dimensions = [1]
  %m = linalg.map { arith.divf } ins(%x, %b : tensor<4x6xf32>, tensor<4x6xf32>) outs(%f : tensor<4x6xf32>)
  return %t, %s, %m : tensor<6x4xf32>, tensor<4xf32>, tensor<4x6xf32>
}

func.func @tiles(%x: tensor<8x16xf32>, %w: tensor<16x12xf32>, %o: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %y = scf.forall (%i, %j) in (2, 3) shared_outs(%t = %o) -> tensor<8x12xf32> {
    %r = affine.apply affine_map<(i) -> (i * 4)>(%i)
    %q = affine.apply affine_map<(i) -> (i * 4)>(%j)
    %xs = tensor.extract_slice %x[%r, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>
    %ws = tensor.extract_slice %w[0, %q] [16, 4] [1, 1] : tensor<16x12xf32> to tensor<16x4xf32>
    %ts = tensor.extract_slice %t[%r, %q] [4, 4] [1, 1] : tensor<8x12xf32> to tensor<4x4xf32>
    %m = linalg.matmul ins(%xs, %ws : tensor<4x16xf32>, tensor<16x4xf32>) outs(%ts : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %t[%r, %q] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x12xf32>
    }
  }
  return %y : tensor<8x12xf32>
}

// More iterations than were once followed.
func.func @loops(%x: memref<50x50xf32>, %w: memref<50x50xf32>, %o: memref<50x50xf32>) {
  affine.for %i = 0 to 50 {
    affine.for %j = 0 to 50 {
      affine.for %k = 0 to 50 {
        %a = affine.load %x[%i, %k] : memref<50x50xf32>
        %b = affine.load %w[%k, %j] : memref<50x50xf32>
        %c = affine.load %o[%i, %j] : memref<50x50xf32>
        %m = arith.mulf %a, %b : f32
        %s = arith.addf %c, %m : f32
        affine.store %s, %o[%i, %j] : memref<50x50xf32>
      }
    }
  }
  return
}

func.func @inserted(%x: tensor<3000xi32>) -> tensor<3000xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2999 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<3000xi32> {
    %j = arith.addi %i, %c1 : index
    %a = tensor.extract %t[%i] : tensor<3000xi32>
    %b = tensor.extract %t[%j] : tensor<3000xi32>
    %s = arith.addi %a, %b : i32
    %u = tensor.insert %s into %t[%j] : tensor<3000xi32>
    scf.yield %u : tensor<3000xi32>
  }
  return %y : tensor<3000xi32>
}

func.func @views(%m: memref<6x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  %v = memref.subview %m[1, 2] [4, 4] [1, 1] : memref<6x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 10>>
  %e = memref.expand_shape %m [[0, 1], [2]] output_shape [2, 3, 8] : memref<6x8xf32> into memref<2x3x8xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %a = memref.load %v[%i, %i] : memref<4x4xf32, strided<[8, 1], offset: 10>>
    %s = arith.mulf %a, %two : f32
    memref.store %s, %v[%i, %c0] : memref<4x4xf32, strided<[8, 1], offset: 10>>
    memref.store %s, %e[%c1, %c0, %i] : memref<2x3x8xf32>
  }
  return
}
