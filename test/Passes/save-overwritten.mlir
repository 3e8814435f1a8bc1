// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-save-overwritten | FileCheck %s

// Two memrefs exchange their elements.
//
// CHECK-LABEL: func.func @exchanged
// CHECK:       %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK-NEXT:  %[[SAVED:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK-NEXT:  %[[B:.*]] = bufferization.to_tensor %arg1
// CHECK-NEXT:  materialize_in_destination %[[B]] in restrict writable %arg0
// CHECK-NEXT:  materialize_in_destination %[[SAVED]] in restrict writable %arg1
func.func @exchanged(%a: memref<5xf64>, %b: memref<5xf64>) {
  %x = bufferization.to_tensor %a restrict writable : memref<5xf64> to tensor<5xf64>
  %y = bufferization.to_tensor %b restrict writable : memref<5xf64> to tensor<5xf64>
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<5xf64>, memref<5xf64>) -> ()
  bufferization.materialize_in_destination %x in restrict writable %b : (tensor<5xf64>, memref<5xf64>) -> ()
  return
}

// What is computed in the memory is saved, what is computed elsewhere is not.
//
// CHECK-LABEL: func.func @computed
// CHECK:       %[[X:.*]] = mdh.compute
// CHECK:       %[[SAVED:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK:       %[[Y:.*]] = mdh.compute
// CHECK-NOT:   alloc_tensor
// CHECK:       return %[[SAVED]], %[[Y]]
func.func @computed(%a: memref<5xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
  %0 = bufferization.to_tensor %a restrict writable : memref<5xf64> to tensor<5xf64>
  %x = mdh.compute (i = 5)
    out_view(x = %0[i] : tensor<5xf64>)
    md_hom(addf, (cc))
    inp_view(a = %0[i][i] : tensor<5xf64>)
  %e = tensor.empty() : tensor<5xf64>
  %y = mdh.compute (i = 5)
    out_view(y = %e[i] : tensor<5xf64>)
    md_hom(addf, (cc))
    inp_view(x = %x[i][i] : tensor<5xf64>)
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<5xf64>, memref<5xf64>) -> ()
  return %x, %y : tensor<5xf64>, tensor<5xf64>
}

// What is read after it was written is what was written.
// Silent: a copy that is not needed is not missed.
// CHECK-LABEL: func.func @read_after
// CHECK-NOT:   alloc_tensor
// CHECK:       return
func.func @read_after(%a: memref<5xf64>, %v: tensor<5xf64>) -> tensor<5xf64> {
  bufferization.materialize_in_destination %v in restrict writable %a : (tensor<5xf64>, memref<5xf64>) -> ()
  %0 = bufferization.to_tensor %a restrict : memref<5xf64> to tensor<5xf64>
  return %0 : tensor<5xf64>
}

// What an operation of linalg neither reads nor writes stays: a column, or all where there is no iteration.
//
// CHECK-LABEL: func.func @column
// CHECK:       %[[KEPT:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK:       linalg.generic {{.*}} outs(%[[KEPT]] :
func.func @column(%x: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %zero = arith.constant 0 : i32
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, 1)>], iterator_types = ["parallel"]}
      outs(%x : tensor<4x2xi32>) {
  ^bb0(%o: i32):
    linalg.yield %zero : i32
  } -> tensor<4x2xi32>
  return %y : tensor<4x2xi32>
}

// CHECK-LABEL: func.func @nothing
// CHECK:       %[[KEPT:.*]] = bufferization.alloc_tensor() copy(%arg1)
// CHECK:       linalg.generic {{.*}} outs(%[[KEPT]] :
func.func @nothing(%x: tensor<4x0xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x0xi32>) outs(%y : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<4xi32>
  return %z : tensor<4xi32>
}

// All of it is written.
//
// CHECK-LABEL: func.func @whole
// CHECK-NOT:   alloc_tensor
func.func @whole(%x: tensor<4x5xi32>, %y: tensor<4xi32>, %n: tensor<?x?xi32>) -> (tensor<4xi32>, tensor<?x?xi32>) {
  %zero = arith.constant 0 : i32
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xi32>) outs(%y : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%n : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %z, %f : tensor<4xi32>, tensor<?x?xi32>
}

// -----

// Who calls it could not tell that both are one.
func.func @same(%a: memref<5xf64>) -> memref<5xf64> {
  // expected-error @+1 {{returns memory to another function that may have it by another name: found result #0, memref<5xf64>, expected memory that is allocated here; return nothing, and let that function use the memory that it gave}}
  return %a : memref<5xf64>
}
func.func @calls(%a: memref<5xf64>) -> tensor<5xf64> {
  %b = call @same(%a) : (memref<5xf64>) -> memref<5xf64>
  %0 = bufferization.to_tensor %b restrict : memref<5xf64> to tensor<5xf64>
  return %0 : tensor<5xf64>
}
