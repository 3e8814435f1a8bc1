// RUN: mdh-opt %s --verify-diagnostics --mdh-prefetch | FileCheck %s

// What a loop computes most on prefetches the next tile's rows, each of its own: once for each vector,
// whatever loops are in between, and never beyond the last row.
// CHECK-LABEL: func.func @rows
// CHECK:         scf.for %[[I:.*]] = %c0 to %c1024 step %c4
// CHECK:           %[[AFTER:.*]] = arith.addi %[[I]], %c4
// CHECK:           %[[LAST:.*]] = arith.constant 1023
// CHECK:           %[[NEXT:.*]] = arith.minui %[[AFTER]], %[[LAST]]
// CHECK:           scf.for
// CHECK-NOT:         prefetch
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             scf.for %[[K:.*]] =
// CHECK:               memref.prefetch %arg0[%arg1, %[[NEXT]], %[[J]], %[[K]]], read, locality<2>, data
// CHECK:           scf.for
// CHECK-NOT:         prefetch
func.func @rows(%x: memref<64x1024x8x128xf32>, %b: index, %out: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  scf.for %i = %c0 to %c1024 step %c4 {
    scf.for %j = %c0 to %c8 step %c1 {
      %v = vector.load %x[%b, %i, %j, %c0] : memref<64x1024x8x128xf32>, vector<16xf32>
      vector.store %v, %out[%c0] : memref<16xf32>, vector<16xf32>
    }
    scf.for %j = %c0 to %c8 step %c1 {
      scf.for %k = %c0 to %c128 step %c16 {
        %v = vector.load %x[%b, %i, %j, %k] : memref<64x1024x8x128xf32>, vector<16xf32>
        %e = math.exp %v : vector<16xf32>
        vector.store %e, %out[%c0] : memref<16xf32>, vector<16xf32>
      }
    }
    scf.for %k = %c0 to %c128 step %c16 {
      %v = vector.load %x[%b, %i, %c0, %k] : memref<64x1024x8x128xf32>, vector<16xf32>
      vector.store %v, %out[%c0] : memref<16xf32>, vector<16xf32>
    }
  }
  return
}

// Nothing to gain: rows that no cache holds, a buffer that the caches hold, a row that is read once.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     prefetch
func.func @others(%long: memref<64x1048576xf32>, %small: memref<64x128xf32>,
    %once: memref<1048576x128xf32>, %out: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %k = %c0 to %c128 step %c16 {
      // expected-remark @+1 {{is read when it is needed: found rows of 4194304 bytes, expected at most 262144}}
      %u = vector.load %long[%i, %k] : memref<64x1048576xf32>, vector<16xf32>
      %v = vector.load %small[%i, %k] : memref<64x128xf32>, vector<16xf32>
      %w = vector.load %once[%i, %k] : memref<1048576x128xf32>, vector<16xf32>
      vector.store %u, %out[%c0] : memref<16xf32>, vector<16xf32>
      vector.store %v, %out[%c0] : memref<16xf32>, vector<16xf32>
      vector.store %w, %out[%c0] : memref<16xf32>, vector<16xf32>
    }
    scf.for %k = %c0 to %c128 step %c16 {
      // expected-remark @+1 {{is read when it is needed: found rows of 4194304 bytes, expected at most 262144}}
      %u = vector.load %long[%i, %k] : memref<64x1048576xf32>, vector<16xf32>
      %v = vector.load %small[%i, %k] : memref<64x128xf32>, vector<16xf32>
      vector.store %u, %out[%c0] : memref<16xf32>, vector<16xf32>
      vector.store %v, %out[%c0] : memref<16xf32>, vector<16xf32>
    }
  }
  return
}

// Tiles of short pieces of rows, gone through twice: the next one is asked for, a line at a time.
// CHECK-LABEL: func.func @tiles
// CHECK:         scf.for %[[J:.*]] = %c0 to %c1024 step %c32
// CHECK:           scf.for
// CHECK:             scf.for %[[K:.*]] = %c0
// CHECK:               %[[NEXT:.*]] = arith.addi %[[J]], %c32
// CHECK-NEXT:          memref.prefetch %{{.*}}[%[[K]], %[[NEXT]]], read, locality<2>, data : memref<4096x1024xf32>
// CHECK-NEXT:          vector.load %{{.*}}[%[[K]], %[[J]]] : memref<4096x1024xf32>, vector<8xf32>
// CHECK-NOT:           memref.prefetch
// CHECK:               %[[LINE:.*]] = arith.addi %{{.*}}, %c32
// CHECK-NEXT:          memref.prefetch %{{.*}}[%[[K]], %[[LINE]]]
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func @tiles(%b: memref<4096x1024xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  scf.for %j = %c0 to %c1024 step %c32 {
    %half = arith.addi %j, %c8 : index
    %line = arith.addi %j, %c16 : index
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c32 step %c1 {
        %u = vector.load %b[%k, %j] : memref<4096x1024xf32>, vector<8xf32>
        vector.store %u, %out[%c0] : memref<8xf32>, vector<8xf32>
        // In the same line.
        %v = vector.load %b[%k, %half] : memref<4096x1024xf32>, vector<8xf32>
        vector.store %v, %out[%c0] : memref<8xf32>, vector<8xf32>
        %w = vector.load %b[%k, %line] : memref<4096x1024xf32>, vector<8xf32>
        vector.store %w, %out[%c0] : memref<8xf32>, vector<8xf32>
      }
    }
  }
  return
}

// Tiles that are gone through once, or often, and long pieces of rows.
// CHECK-LABEL: func.func @other_tiles
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func @other_tiles(%b: memref<4096x1024xf32>, %out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index
  scf.for %j = %c0 to %c1024 step %c32 {
    scf.for %k = %c0 to %c32 step %c1 {
      %u = vector.load %b[%k, %j] : memref<4096x1024xf32>, vector<8xf32>
      vector.store %u, %out[%c0] : memref<8xf32>, vector<8xf32>
    }
    scf.for %i = %c0 to %c32 step %c1 {
      scf.for %k = %c0 to %c32 step %c1 {
        %u = vector.load %b[%k, %j] : memref<4096x1024xf32>, vector<8xf32>
        vector.store %u, %out[%c0] : memref<8xf32>, vector<8xf32>
      }
    }
  }
  scf.for %j = %c0 to %c1024 step %c512 {
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c32 step %c1 {
        %u = vector.load %b[%k, %j] : memref<4096x1024xf32>, vector<8xf32>
        vector.store %u, %out[%c0] : memref<8xf32>, vector<8xf32>
      }
    }
  }
  return
}

// Refuses nothing: what is not asked for is read all the same.
