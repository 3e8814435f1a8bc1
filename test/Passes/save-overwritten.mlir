// RUN: mdh-opt %s --mdh-save-overwritten | FileCheck %s

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

// Refuses nothing: every tensor can be copied.
