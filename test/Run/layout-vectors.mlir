// Vectors of memory in a layout: rows that are one in memory, blocks of a swizzle, and strided lanes,
// of which those behind the end are padding.
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "list(range(64))"
// RUN: mdh run %s --entry moved --in x=%t.x.npy --random 1 --out y=%t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a.reshape(4, 8)[:, [0, 1, 4, 7]]" | FileCheck %s
//      CHECK: 8 9 12 15
// CHECK-NEXT: 11 10 15 12
// CHECK-NEXT: 38 46 -1 -1
// CHECK-NEXT: 15 14 0 0

// What has no code is said, where it is.
// RUN: not mdh run %s --entry copied --random 1 2>&1 | FileCheck %s --check-prefix OTHER
// OTHER: layout-vectors.mlir:[[#@LINE+3]]:{{.*}}'memref.copy' op uses memory in a layout (memref<8x8xf32, {{.*}}>), for which it has no code: expected memref.load, memref.store, vector.load, {{.*}}, or a computation of mdh
func.func @copied(%x: memref<64xf32>, %y: memref<8x8xf32>) {
  %view = mdh.layout.view %x : memref<64xf32> to memref<8x8xf32, #mdh.layout<GenP([8,8],xor)>>
  memref.copy %view, %y : memref<8x8xf32, #mdh.layout<GenP([8,8],xor)>> to memref<8x8xf32>
  return
}

func.func @moved(%x: memref<64xf32>, %y: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %rest = arith.constant -1.0 : f32
  %zero = arith.constant 0.0 : f32
  %zeros = vector.broadcast %zero : f32 to vector<8xf32>
  %to = mdh.layout.view %y : memref<32xf32> to memref<4x8xf32, #mdh.layout<Row([4,8])>>
  %rows = mdh.layout.view %x : memref<64xf32> to memref<8x8xf32, #mdh.layout<Row([8,8])>>
  %v = vector.load %rows[%c1, %c0] : memref<8x8xf32, #mdh.layout<Row([8,8])>>, vector<8xf32>
  vector.store %v, %to[%c0, %c0] : memref<4x8xf32, #mdh.layout<Row([4,8])>>, vector<8xf32>
  // Element (i, j) is number 8 i + (i xor j).
  %swizzle = mdh.layout.view %x : memref<64xf32> to memref<8x8xf32, #mdh.layout<GenP([8,8],xor)>>
  %w = vector.load %swizzle[%c3, %c0] : memref<8x8xf32, #mdh.layout<GenP([8,8],xor)>>, vector<1x8xf32>
  %sixteen = arith.constant 16.0 : f32
  %less = vector.broadcast %sixteen : f32 to vector<1x8xf32>
  %moved = arith.subf %w, %less : vector<1x8xf32>
  vector.store %moved, %to[%c1, %c0] : memref<4x8xf32, #mdh.layout<Row([4,8])>>, vector<1x8xf32>
  // Columns: element (i, j) is number i + 8 j.
  %columns = mdh.layout.view %x : memref<64xf32> to memref<8x8xf32, #mdh.layout<Col([8,8])>>
  %u = vector.transfer_read %columns[%c6, %c4], %rest {permutation_map = affine_map<(d0, d1) -> (d1)>}
    : memref<8x8xf32, #mdh.layout<Col([8,8])>>, vector<8xf32>
  vector.store %u, %to[%c2, %c0] : memref<4x8xf32, #mdh.layout<Row([4,8])>>, vector<8xf32>
  // Only the last lanes are stored, in the order of memory from its end on.
  %back = mdh.layout.view %y : memref<32xf32> to memref<4x8xf32, #mdh.layout<GenP([4,8],reverse)>>
  %mask = arith.constant dense<[false, false, false, false, false, false, true, true]> : vector<8xi1>
  vector.store %zeros, %to[%c3, %c0] : memref<4x8xf32, #mdh.layout<Row([4,8])>>, vector<8xf32>
  vector.maskedstore %back[%c0, %c0], %mask, %v
    : memref<4x8xf32, #mdh.layout<GenP([4,8],reverse)>>, vector<8xi1>, vector<8xf32>
  return
}
