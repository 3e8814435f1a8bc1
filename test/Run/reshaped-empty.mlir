// Memory without elements is expanded like any other.
//
// RUN: mdh run %s --check=all --entry f 2>&1 | FileCheck %s
// RUN: mdh run %s --check=all --entry given --in n=3 --random 1 --size i=3 2>&1 | FileCheck %s --check-prefixes CHECK,GIVEN
// RUN: mdh run %s --check=all --entry given --in n=3 --random 1 --size i=3 --no-raise 2>&1 | FileCheck %s --check-prefixes CHECK,GIVEN
// RUN: mdh run %s --check=all --entry among --in n=3 m=2 --random 1 --size i=3 --size l=2 2>&1 | FileCheck %s
// GIVEN: out {{.*}} 3x0xi32
// CHECK: check passed

func.func @f(%x: memref<1x1x0xi32>, %y: memref<1x1x1x0xi32>) {
  %e = memref.expand_shape %x [[0, 1], [2], [3]] output_shape [1, 1, 1, 0] : memref<1x1x0xi32> into memref<1x1x1x0xi32>
  linalg.copy ins(%e : memref<1x1x1x0xi32>) outs(%y : memref<1x1x1x0xi32>)
  return
}

// An extent beside one of 0 is the one that is given: no division says it.
func.func @given(%x: memref<?xi32>, %n: index, %y: memref<?x0xi32>) {
  %e = memref.expand_shape %x [[0, 1]] output_shape [%n, 0] : memref<?xi32> into memref<?x0xi32>
  linalg.copy ins(%e : memref<?x0xi32>) outs(%y : memref<?x0xi32>)
  return
}

func.func @among(%x: memref<?xi32>, %n: index, %m: index, %y: memref<?x0x?xi32>) {
  %e = memref.expand_shape %x [[0, 1, 2]] output_shape [%n, 0, %m] : memref<?xi32> into memref<?x0x?xi32>
  linalg.copy ins(%e : memref<?x0x?xi32>) outs(%y : memref<?x0x?xi32>)
  return
}
