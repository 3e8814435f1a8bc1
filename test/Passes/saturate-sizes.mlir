// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-saturate-sizes --canonicalize --cse | FileCheck %s

// One extent is compared with the most that there is room for.
// CHECK-LABEL: func.func @one(
// CHECK:       %[[FITS:.*]] = arith.cmpi ule, %arg0, %[[MOST:.*]] : index
// CHECK:       %[[SIZE:.*]] = arith.select %[[FITS]], %arg0, %[[MOST]]
// CHECK:       memref.alloc(%[[SIZE]]) : memref<?x16xf32>
func.func @one(%n: index) -> memref<?x16xf32> {
  %t = memref.alloc(%n) : memref<?x16xf32>
  return %t : memref<?x16xf32>
}

// Of several, each product has to be a number; without elements there is nothing to ask for.
// CHECK-LABEL: func.func @three(
// CHECK-COUNT-2: arith.mului_extended
// CHECK:         %[[FITS:.*]] = arith.ori
// CHECK:         %[[A:.*]] = arith.select %[[FITS]], %arg0, %{{.*}}
// CHECK:         %[[B:.*]] = arith.select %[[FITS]], %arg1, %c1
// CHECK:         %[[C:.*]] = arith.select %[[FITS]], %arg2, %c1
// CHECK:         gpu.alloc (%[[A]], %[[B]], %[[C]]) : memref<?x?x?xi8>
func.func @three(%m: index, %n: index, %k: index) {
  %t = gpu.alloc (%m, %n, %k) : memref<?x?x?xi8>
  gpu.dealloc %t : memref<?x?x?xi8>
  return
}

// Silent: known sizes stay as they are.
// CHECK-LABEL: func.func @known(
// CHECK-NEXT:  memref.alloc() : memref<8x8xf32>
func.func @known() -> memref<8x8xf32> {
  %t = memref.alloc() : memref<8x8xf32>
  return %t : memref<8x8xf32>
}

// -----

// Known ones that are too large are an error, unless there are no elements.
func.func @too_large() -> (memref<4294967296x0x4294967296xf64>, memref<4294967296x536870912xf64>) {
  %t = memref.alloc() : memref<4294967296x0x4294967296xf64>
  // expected-error @+1 {{allocates 4294967296x536870912 elements of 8 bytes each: expected fewer than 2^63 bytes in all}}
  %u = memref.alloc() : memref<4294967296x536870912xf64>
  return %t, %u : memref<4294967296x0x4294967296xf64>, memref<4294967296x536870912xf64>
}
