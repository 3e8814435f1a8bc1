// No two results of a function are one buffer, and none is another shape of what is allocated.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-separate-results | FileCheck %s

// CHECK-LABEL: func.func @twice
// CHECK-SAME:  (%[[X:.*]]: memref<?x4xf32>)
// CHECK:       %[[N:.*]] = memref.dim %[[X]]
// CHECK:       %[[COPY:.*]] = memref.alloc(%[[N]]) {{.*}}: memref<?x4xf32>
// CHECK-NEXT:  memref.copy %[[X]], %[[COPY]]
// CHECK-NEXT:  return %[[X]], %[[COPY]]
func.func @twice(%x: memref<?x4xf32>) -> (memref<?x4xf32>, memref<?x4xf32>) {
  return %x, %x : memref<?x4xf32>, memref<?x4xf32>
}

// Numbers are no memory, and two buffers are two.
// CHECK-LABEL: func.func @apart
// CHECK-NEXT:  return
func.func @apart(%x: memref<4xf32>, %y: memref<4xf32>, %n: i32) -> (memref<4xf32>, memref<4xf32>, i32, i32) {
  return %x, %y, %n, %n : memref<4xf32>, memref<4xf32>, i32, i32
}

// Memory that is returned in another shape is allocated in that one.
// CHECK-LABEL: func.func @reshaped
// CHECK:       %[[ROW:.*]] = memref.alloc() : memref<12xf32>
// CHECK:       %[[X:.*]] = memref.expand_shape %[[ROW]] {{.*}} : memref<12xf32> into memref<3x4xf32>
// CHECK:       %[[CUBE:.*]] = memref.alloc() : memref<2x2x4xf32>
// CHECK:       %[[Y:.*]] = memref.collapse_shape %[[CUBE]] {{.*}} : memref<2x2x4xf32> into memref<4x4xf32>
// CHECK:       linalg.fill ins(%{{.*}}) outs(%[[X]] : memref<3x4xf32>)
// CHECK:       linalg.fill ins(%{{.*}}) outs(%[[Y]] : memref<4x4xf32>)
// CHECK:       return %[[ROW]], %[[CUBE]]
func.func @reshaped(%z: f32) -> (memref<12xf32>, memref<2x2x4xf32>) {
  %x = memref.alloc() : memref<3x4xf32>
  %y = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<3x4xf32>)
  linalg.fill ins(%z : f32) outs(%y : memref<4x4xf32>)
  %row = memref.collapse_shape %x [[0, 1]] : memref<3x4xf32> into memref<12xf32>
  %cube = memref.expand_shape %y [[0, 1], [2]] output_shape [2, 2, 4] : memref<4x4xf32> into memref<2x2x4xf32>
  return %row, %cube : memref<12xf32>, memref<2x2x4xf32>
}

// -----

// CHECK-LABEL: func.func @columns
// CHECK-NOT:   memref.copy
// CHECK:       return %[[X:.*]], %[[X]]
func.func @columns(%x: memref<4x4xf32, strided<[1, 4]>>) -> (memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32, strided<[1, 4]>>) {
  // expected-remark @+1 {{returns result #1 in memory of another one: found memref<4x4xf32, strided<[1, 4]>>, expected elements row by row; return a copy}}
  return %x, %x : memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32, strided<[1, 4]>>
}

// Refuses nothing: what cannot be copied stays, and bufferization says the rest.
