// RUN: mdh-opt %s --mdh-deallocate --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @temporary
// CHECK:       %[[T:.*]] = memref.alloc
// CHECK:       memref.copy %[[T]], %arg1
// CHECK-NEXT:  memref.dealloc %[[T]]
// CHECK-NEXT:  return
func.func @temporary(%x: memref<4xf32>, %y: memref<4xf32>) {
  %t = memref.alloc() : memref<4xf32>
  memref.copy %x, %t : memref<4xf32> to memref<4xf32>
  memref.copy %t, %y : memref<4xf32> to memref<4xf32>
  return
}

// CHECK-LABEL: func.func @freed
// CHECK:       memref.dealloc
// CHECK-NOT:   memref.dealloc
func.func @freed() {
  %t = memref.alloc() : memref<4xf32>
  memref.dealloc %t : memref<4xf32>
  return
}

// CHECK-LABEL: func.func @returned
// CHECK-NOT:   memref.dealloc
func.func @returned() -> memref<?xf32> {
  // expected-remark @+1 {{is not freed here: it leaves its block}}
  %t = memref.alloc() : memref<4xf32>
  %v = memref.cast %t : memref<4xf32> to memref<?xf32>
  return %v : memref<?xf32>
}
