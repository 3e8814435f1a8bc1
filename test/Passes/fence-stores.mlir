// What has been stored non-temporally is there for others.
//
// RUN: mdh-opt %s --mdh-fence-stores | FileCheck %s

func.func private @other(memref<64xf32>)

// CHECK-LABEL: func.func @streamed
// CHECK:       vector.store
// CHECK-NEXT:  llvm.fence seq_cst
// CHECK-NEXT:  call @other
// CHECK-NEXT:  llvm.fence seq_cst
// CHECK-NEXT:  return
func.func @streamed(%v: vector<16xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  vector.store %v, %y[%c0] {alignment = 64, nontemporal = true} : memref<64xf32>, vector<16xf32>
  call @other(%y) : (memref<64xf32>) -> ()
  return
}

// Silent: stores in the caches are in order anyway.
// CHECK-LABEL: func.func @plain
// CHECK-NOT:   llvm.fence
// CHECK:       return
func.func @plain(%v: vector<16xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  vector.store %v, %y[%c0] : memref<64xf32>, vector<16xf32>
  vector.store %v, %y[%c0] {alignment = 64, nontemporal = false} : memref<64xf32>, vector<16xf32>
  call @other(%y) : (memref<64xf32>) -> ()
  return
}

// Refuses nothing: a fence is right wherever it stands.
