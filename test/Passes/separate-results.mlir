// No two results of a function are one buffer.
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

// -----

// CHECK-LABEL: func.func @columns
// CHECK-NOT:   memref.copy
// CHECK:       return %[[X:.*]], %[[X]]
func.func @columns(%x: memref<4x4xf32, strided<[1, 4]>>) -> (memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32, strided<[1, 4]>>) {
  // expected-remark @+1 {{returns result #1 in memory of another one: found memref<4x4xf32, strided<[1, 4]>>, expected elements row by row; return a copy}}
  return %x, %x : memref<4x4xf32, strided<[1, 4]>>, memref<4x4xf32, strided<[1, 4]>>
}

// Refuses nothing: what cannot be copied stays, and bufferization says the rest.
