// Masked accesses are no wider than the machine's vectors.
//
// RUN: mdh-opt %s --mdh-split-masks=vector=32 | FileCheck %s
// RUN: mdh-opt %s --mdh-split-masks=vector=64 | FileCheck %s --check-prefix WIDE
// RUN: not mdh-opt %s --mdh-split-masks=vector=none 2>&1 | FileCheck %s --check-prefix NONE
// NONE: option 'vector' of mdh-split-masks is 'none': expected a positive number

// CHECK-LABEL: func.func @copy
// CHECK-SAME:      %[[X:[^ ]*]]: memref<?xf32>, %[[AT:[^ ]*]]: index, %[[M:[^ ]*]]: vector<16xi1>, %[[Z:[^ ]*]]: vector<16xf32>
// CHECK:         %[[M0:.*]] = vector.extract_strided_slice %[[M]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK:         %[[V0:.*]] = vector.maskedload %[[X]][%[[AT]]], %[[M0]]
// CHECK-SAME:      vector<8xi1>, vector<8xf32> into vector<8xf32>
// CHECK:         %[[LOW:.*]] = vector.insert_strided_slice %[[V0]], %[[Z]] {offsets = [0], strides = [1]}
// CHECK:         %[[M1:.*]] = vector.extract_strided_slice %[[M]] {offsets = [8], sizes = [8], strides = [1]}
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT]], %c8
// CHECK:         %[[V1:.*]] = vector.maskedload %[[X]][%[[NEXT]]], %[[M1]]
// CHECK:         vector.insert_strided_slice %[[V1]], %[[LOW]] {offsets = [8], strides = [1]}
// CHECK-COUNT-2: vector.maskedstore {{.*}} vector<8xi1>, vector<8xf32>
// CHECK-NOT:     vector.maskedstore
// WIDE:          vector.maskedload {{.*}} into vector<16xf32>
// WIDE:          vector.maskedstore {{.*}} vector<16xf32>
func.func @copy(%x: memref<?xf32>, %at: index, %m: vector<16xi1>, %z: vector<16xf32>) {
  %v = vector.maskedload %x[%at], %m, %z : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.maskedstore %x[%at], %m, %v : memref<?xf32>, vector<16xi1>, vector<16xf32>
  return
}
