// A residual block in TOSA: two convolutions with biases, the input added, clamped below at 0; then the mean over
// space and a fully connected layer.
func.func @resnet_block(%x: tensor<1x14x14x16xf32>, %w1: tensor<16x3x3x16xf32>, %b1: tensor<16xf32>,
    %w2: tensor<16x3x3x16xf32>, %b2: tensor<16xf32>, %w3: tensor<1x16x10xf32>) -> tensor<1x1x10xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c1 = tosa.conv2d %x, %w1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x14x14x16xf32>, tensor<16x3x3x16xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x14x14x16xf32>
  %r1 = tosa.clamp %c1 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %c2 = tosa.conv2d %r1, %w2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x14x14x16xf32>, tensor<16x3x3x16xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x14x14x16xf32>
  %s = tosa.add %c2, %x : (tensor<1x14x14x16xf32>, tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %r2 = tosa.clamp %s {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %p = tosa.avg_pool2d %r2, %zero, %zero {acc_type = f32, kernel = array<i64: 14, 14>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x14x14x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x16xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %flat = tosa.reshape %p, %shape : (tensor<1x1x1x16xf32>, !tosa.shape<3>) -> tensor<1x1x16xf32>
  %y = tosa.matmul %flat, %w3, %zero, %zero : (tensor<1x1x16xf32>, tensor<1x16x10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x10xf32>
  return %y : tensor<1x1x10xf32>
}
func.func @argmax_pool(%x: tensor<1x8x8x4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x8x8xi32>) {
  %m = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  %a = tosa.argmax %x {axis = 3 : i32} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8xi32>
  return %m, %a : tensor<1x4x4x4xf32>, tensor<1x8x8xi32>
}
func.func @attention(%q: tensor<2x32x8xf32>, %k: tensor<2x32x8xf32>, %v: tensor<2x32x8xf32>) -> tensor<2x32x8xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<2x32x8xf32>) -> tensor<2x8x32xf32>
  %s = tosa.matmul %q, %kt, %zero, %zero : (tensor<2x32x8xf32>, tensor<2x8x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x32x32xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<2x32x32xf32>) -> tensor<2x32x1xf32>
  %d = tosa.sub %s, %m : (tensor<2x32x32xf32>, tensor<2x32x1xf32>) -> tensor<2x32x32xf32>
  %e = tosa.exp %d : (tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %t = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<2x32x32xf32>) -> tensor<2x32x1xf32>
  %r = tosa.reciprocal %t : (tensor<2x32x1xf32>) -> tensor<2x32x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %p = tosa.mul %e, %r, %shift : (tensor<2x32x32xf32>, tensor<2x32x1xf32>, tensor<1xi8>) -> tensor<2x32x32xf32>
  %y = tosa.matmul %p, %v, %zero, %zero : (tensor<2x32x32xf32>, tensor<2x32x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x32x8xf32>
  return %y : tensor<2x32x8xf32>
}
// Resizing: the nearest element, and between four of them, with indices that are divided and kept inside.
func.func @nearest(%x: tensor<1x6x5x3xf32>) -> tensor<1x12x10x3xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %y = tosa.resize %x, %scale, %offset, %border {mode = NEAREST_NEIGHBOR} : (tensor<1x6x5x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x12x10x3xf32>
  return %y : tensor<1x12x10x3xf32>
}
func.func @bilinear(%x: tensor<1x6x5x3xf32>) -> tensor<1x12x10x3xf32> {
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<[-1, -1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<[1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %y = tosa.resize %x, %scale, %offset, %border {mode = BILINEAR} : (tensor<1x6x5x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x12x10x3xf32>
  return %y : tensor<1x12x10x3xf32>
}
func.func @integers(%x: tensor<1x7x9x3xi8>) -> (tensor<1x13x13x3xi8>, tensor<1x13x25x3xi32>) {
  %two = tosa.const_shape {values = dense<[2, 1, 3, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %three = tosa.const_shape {values = dense<[2, 1, 3, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %zero = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.resize %x, %two, %zero, %zero {mode = NEAREST_NEIGHBOR} : (tensor<1x7x9x3xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x13x13x3xi8>
  %b = tosa.resize %x, %three, %zero, %zero {mode = BILINEAR} : (tensor<1x7x9x3xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x13x25x3xi32>
  return %n, %b : tensor<1x13x13x3xi8>, tensor<1x13x25x3xi32>
}
