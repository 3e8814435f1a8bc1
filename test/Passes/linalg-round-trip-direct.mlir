// Raised, and as linalg again, is what was written, also where nothing simplifies: sizes that raising asks for, and
// asserts, are gone, and linalg.map is none of the operations that have a name for its body.
//
// RUN: mdh-opt %s -o %t.same.mlir
// RUN: mdh-opt %s --mdh-raise-linalg --mdh-to-linalg -o %t.direct.mlir
// RUN: diff %t.same.mlir %t.direct.mlir
// RUN: mdh-opt %s --mdh-raise --mdh-lower-to-linalg -o %t.checked.mlir
// RUN: diff %t.same.mlir %t.checked.mlir

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// What the destination was filled with goes with the computation, and comes back with it.
func.func @filled(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %e = tensor.empty() : tensor<4x5xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %d = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %d : tensor<4x5xf32>
}

// Of truth there is no larger one without a sign that has a name.
func.func @truth(%a: tensor<5xi1>, %w: tensor<2xi1>, %c: tensor<4xi1>) -> tensor<4xi1> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a, %w : tensor<5xi1>, tensor<2xi1>) outs(%c : tensor<4xi1>) {
  ^bb0(%in: i1, %in_0: i1, %out: i1):
    %1 = arith.andi %in, %in_0 : i1
    %2 = arith.maxui %out, %1 : i1
    linalg.yield %2 : i1
  } -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// So does that of a reduction.
func.func @chain(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %d = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %d : tensor<4xf32>
}

func.func @memory(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

func.func @conv(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.conv_2d ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// What else asks for a size keeps it.
func.func @reduce(%a: tensor<?x?xf32>, %f: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %d = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %d, %n : tensor<?xf32>, index
}

func.func @maps(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
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
