// Memory that a function returns becomes an argument, which is no other name of what it was.
//
// RUN: not mdh run %s --entry f --random 1 2>&1 | FileCheck %s
// RUN: mdh run %s --entry own --random 1 --check=all | FileCheck %s --check-prefix=OWN
// OWN: check passed: 4 of 4 elements compared, no difference

func.func private @same(%a: memref<4xi32>, %b: memref<4xi32>) -> memref<4xi32> attributes {no_inline} {
  // CHECK: returned-memory.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'func.return' op returns memory to another function that may have it by another name: found result #0, memref<4xi32>, expected memory that is allocated here; return nothing, and let that function use the memory that it gave
  return %b : memref<4xi32>
}
func.func @f(%m: memref<4xi32>, %n: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %s = func.call @same(%m, %n) : (memref<4xi32>, memref<4xi32>) -> memref<4xi32>
  memref.store %c7, %s[%c0] : memref<4xi32>
  return
}

func.func private @new(%a: memref<4xi32>) -> memref<4xi32> attributes {no_inline} {
  %b = memref.alloc() : memref<4xi32>
  memref.copy %a, %b : memref<4xi32> to memref<4xi32>
  return %b : memref<4xi32>
}
func.func @own(%m: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %s = func.call @new(%m) : (memref<4xi32>) -> memref<4xi32>
  memref.store %c7, %s[%c0] : memref<4xi32>
  memref.copy %s, %m : memref<4xi32> to memref<4xi32>
  return
}
