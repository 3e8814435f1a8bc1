// Masked accesses are no wider than the machine's vectors.
//
// RUN: mdh-opt %s --verify-diagnostics --mdh-split-masks=vector=32 | FileCheck %s
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

// The mask of a part is made for the part, so that one that holds nowhere is seen to.
// CHECK-LABEL: func.func @tail
// CHECK-SAME:    %[[AT:[^ ]*]]: index, %[[END:[^ ]*]]: index, %[[HELD:[^ ]*]]: index, %[[ANY:[^ ]*]]: i1
// CHECK-NOT:     vector.extract_strided_slice {{.*}} vector<16xi1>
// CHECK-DAG:     vector.create_mask %[[HELD]] : vector<8xi1>
// CHECK:         %[[REST:.*]] = arith.subi %[[HELD]]
// CHECK:         vector.create_mask %[[REST]] : vector<8xi1>
// CHECK:         vector.maskedload {{.*}} into vector<8xf32>
func.func @tail(%x: memref<?xf32>, %at: index, %end: index, %held: index, %any: i1, %z: vector<16xf32>) -> vector<16xf32> {
  %step = vector.step : vector<16xindex>
  %first = vector.broadcast %at : index to vector<16xindex>
  %all = arith.addi %step, %first : vector<16xindex>
  %last = vector.broadcast %end : index to vector<16xindex>
  %inside = arith.cmpi ult, %all, %last : vector<16xindex>
  %ok = vector.broadcast %any : i1 to vector<16xi1>
  %some = arith.andi %inside, %ok : vector<16xi1>
  %few = vector.create_mask %held : vector<16xi1>
  %m = arith.andi %some, %few : vector<16xi1>
  %v = vector.maskedload %x[%at], %m, %z : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  return %v : vector<16xf32>
}

// CHECK-LABEL: func.func @odd
// CHECK:         vector.maskedload {{.*}} into vector<12xf32>
func.func @odd(%x: memref<?xf32>, %at: index, %m: vector<12xi1>, %z: vector<12xf32>) -> vector<12xf32> {
  // expected-remark @+1 {{keeps its 12 lanes under one mask: found vectors of 8 lanes on this machine, expected two or more, in a number that divides 12}}
  %v = vector.maskedload %x[%at], %m, %z : memref<?xf32>, vector<12xi1>, vector<12xf32> into vector<12xf32>
  return %v : vector<12xf32>
}

// Refuses nothing: what cannot be split keeps its mask.
