// Raised, and as linalg again, is what was written, whether or not raising asserts that sizes fit: of sizes that
// are known at run time only, too.
//
// RUN: mdh-opt %s --canonicalize --cse -o %t.written.mlir
// RUN: mdh-opt %s --mdh-raise-linalg -o %t.raised.mlir
// RUN: mdh-opt %t.raised.mlir --mdh-to-linalg --canonicalize --cse -o %t.out.mlir
// RUN: diff %t.written.mlir %t.out.mlir
// RUN: mdh-opt %s --mdh-raise --mdh-lower-to-linalg --canonicalize --cse -o %t.checked.mlir
// RUN: diff %t.written.mlir %t.checked.mlir
// RUN: FileCheck %s --input-file=%t.raised.mlir
//
// A canonicalisation that sees through a slice has other sizes: what stood there before is not said of it.
// RUN: mdh-opt %s --mdh-raise-linalg --canonicalize | FileCheck %s --check-prefix SEEN

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @matmul(
// CHECK:       mdh.compute
// CHECK:         {mdh.fits}
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// Of truth, a product is 'andi', and a sum 'ori'.
func.func @matmul_of_truth(%a: tensor<?x?xi1>, %b: tensor<?x?xi1>, %c: tensor<?x?xi1>) -> tensor<?x?xi1> {
  %d = linalg.matmul ins(%a, %b : tensor<?x?xi1>, tensor<?x?xi1>) outs(%c : tensor<?x?xi1>) -> tensor<?x?xi1>
  return %d : tensor<?x?xi1>
}

// Numbers of which bits are combined are no such sums.
func.func @bits(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi8>) -> tensor<?x?xi8> {
  %d = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi8>) {
  ^bb0(%x: i8, %y: i8, %o: i8):
    %p = arith.andi %x, %y : i8
    %s = arith.ori %o, %p : i8
    linalg.yield %s : i8
  } -> tensor<?x?xi8>
  return %d : tensor<?x?xi8>
}

func.func @matmul_from_zero(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

func.func @map(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %d = linalg.map { math.exp } ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>)
  %e = linalg.map ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>)
    (%x: f32, %y: f32, %z: f32) {
      %s = arith.addf %x, %y : f32
      %t = arith.mulf %s, %x : f32
      linalg.yield %t : f32
    }
  return %d, %e : tensor<?xf32>, tensor<?xf32>
}

func.func @map_in_memory(%a: memref<4x6xf32>, %c: memref<4x6xf32>) {
  linalg.map { math.exp } ins(%a : memref<4x6xf32>) outs(%c : memref<4x6xf32>)
  return
}

func.func @exp(%a: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %d = linalg.exp ins(%a : tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

func.func @batch(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %d = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

func.func @conv(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.conv_2d ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

func.func @depthwise(%a: tensor<?x?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %d = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %b : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
}

// The window is an operand without elements that are read, and stays the one that it is.
func.func @pooling(%a: tensor<?x?x?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %d = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %b : tensor<?x?x?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
}

func.func @pooling_in_memory(%a: memref<?x?x?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?x?x?xf32>) {
  linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %b : memref<?x?x?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?x?x?xf32>)
  return
}

func.func @sum(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.add ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

func.func @transposed(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) permutation = [1, 0]
  return %d : tensor<?x?xf32>
}

func.func @reduced(%a: tensor<?x?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %d = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%c : tensor<?xf32>) dimensions = [1]
  return %d : tensor<?xf32>
}

func.func @carried(%a: tensor<?x?xf32>, %v: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %d = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %v : tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %m = arith.maximumf %o, %p : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %d : tensor<?xf32>
}

func.func @padded(%a: tensor<8x9xf32>, %b: tensor<3x3xf32>, %c: tensor<8x9xf32>) -> tensor<8x9xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %a low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<8x9xf32> to tensor<10x11xf32>
  %d = linalg.conv_2d ins(%p, %b : tensor<10x11xf32>, tensor<3x3xf32>) outs(%c : tensor<8x9xf32>) -> tensor<8x9xf32>
  return %d : tensor<8x9xf32>
}

func.func @padded_open(%a: tensor<?x?xf32>, %b: tensor<3x3xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %a low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %d = linalg.conv_2d ins(%p, %b : tensor<?x?xf32>, tensor<3x3xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

func.func @inserted(%a: tensor<?xf32>, %o: index, %c: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %d = tensor.insert_slice %a into %c[%o] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %d : tensor<?xf32>
}

// Padding that starts anywhere.
func.func @padded_from(%a: tensor<?xf32>, %l: index, %b: tensor<3xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %a low[%l] high[%l] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  %d = linalg.conv_1d ins(%p, %b : tensor<?xf32>, tensor<3xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

func.func @memory(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// SEEN-LABEL: func.func @through_a_slice(
// SEEN:       mdh.compute
// SEEN:         inp_view(in = %arg0[i, j] : tensor<?x?xf32>, in_1 = %arg1[i, j] : tensor<?x?xf32>)
// SEEN-NOT:     mdh.fits
// SEEN:       return
func.func @through_a_slice(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %s = tensor.extract_slice %a[0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %d = linalg.add ins(%s, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// A product that is added without rounding between stays one operation.
func.func @fma(%x: tensor<16x133xf32>, %y: tensor<133xf32>, %z: tensor<16xf32>) -> tensor<16xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<16x133xf32>, tensor<133xf32>) outs(%z : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    linalg.yield %d : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
