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

// CHECK-LABEL: func.func @another_block
// CHECK-NOT:   memref.dealloc
func.func @another_block(%v: f32) -> f32 {
  %c0 = arith.constant 0 : index
  // expected-remark @+1 {{is not freed here: it leaves its block}}
  %t = memref.alloc() : memref<4xf32>
  memref.store %v, %t[%c0] : memref<4xf32>
  cf.br ^next
^next:
  %r = memref.load %t[%c0] : memref<4xf32>
  return %r : f32
}

// One of two buffers is yielded, under another name.
// CHECK-LABEL: func.func @chosen
// CHECK-NOT:   memref.dealloc
// CHECK:       memref.load
// CHECK-NEXT:  memref.dealloc
func.func @chosen(%b: i1, %v: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<4xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%a = %first) -> memref<4xf32> {
    // expected-remark @+1 {{is not freed here: it leaves its block}}
    %t = memref.alloc() : memref<4xf32>
    memref.store %v, %t[%c0] : memref<4xf32>
    %next = arith.select %b, %t, %a : memref<4xf32>
    scf.yield %next : memref<4xf32>
  }
  %r = memref.load %last[%c0] : memref<4xf32>
  return %r : f32
}

// Refuses nothing: what it does not free, it names.
