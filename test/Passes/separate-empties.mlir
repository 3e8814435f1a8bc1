// Computations that share an empty tensor get one each, where there is much of it.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-separate-empties | FileCheck %s

// The first one keeps it.
// CHECK-LABEL: func.func @large
// CHECK:       %[[OWN:.*]] = tensor.empty() : tensor<65536xf32>
// CHECK-NEXT:  %[[FIRST:.*]] = tensor.empty() : tensor<65536xf32>
// CHECK:       out_view(t = %[[FIRST]][i]
// CHECK:       out_view(y = %[[OWN]][i]
func.func @large(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %memory = tensor.empty() : tensor<65536xf32>
  %t = mdh.compute (i = 65536)
    out_view(t = %memory[i] : tensor<65536xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<65536xf32>)
  %y = mdh.compute (i = 65536)
    out_view(y = %memory[i] : tensor<65536xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[65535 - i] : tensor<65536xf32>)
  return %y : tensor<65536xf32>
}

// -----

// CHECK-LABEL: func.func @small
// CHECK:       %[[ONE:.*]] = tensor.empty()
// CHECK-NOT:   tensor.empty
// CHECK:       out_view(t = %[[ONE]][i]
// CHECK:       out_view(y = %[[ONE]][i]
func.func @small(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-remark @+1 {{stays the memory of 2 computations: found 32 bytes, and from 131072 bytes on each gets its own}}
  %memory = tensor.empty() : tensor<8xf32>
  %t = mdh.compute (i = 8)
    out_view(t = %memory[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %y = mdh.compute (i = 8)
    out_view(y = %memory[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[7 - i] : tensor<8xf32>)
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @open
// CHECK-COUNT-1: tensor.empty
// CHECK-NOT:   tensor.empty
func.func @open(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  // expected-remark @+1 {{stays the memory of 2 computations: found a size that is not known, and from 131072 bytes on each gets its own}}
  %memory = tensor.empty(%n) : tensor<?xf32>
  %t = mdh.compute (i = %n)
    out_view(t = %memory[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %y = mdh.compute (i = %n)
    out_view(y = %memory[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(t = %t[i] : tensor<?xf32>)
  return %y : tensor<?xf32>
}

// Refuses nothing: what stays shared is right.

// -----

// What is returned is not computed in the memory of an argument of which nothing is read ..
// CHECK-LABEL: func.func @argument
// CHECK-SAME:    (%{{.*}}: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK:       %[[N:.*]] = tensor.dim %[[Y]]
// CHECK:       %[[OWN:.*]] = tensor.empty(%{{.*}}) : tensor<?x4xf32>
// CHECK:       out_view(y = %[[OWN]][i, j]
func.func @argument(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x4xf32>
  %r = mdh.compute (i = %n, j = 4)
    out_view(y = %y[i, j] : tensor<?x4xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<?x4xf32>)
  return %r : tensor<?x4xf32>
}

// -----

// .. unless what is not written of it stays, or the result is none of the function's.
// CHECK-LABEL: func.func @kept
// CHECK-SAME:    (%{{.*}}: tensor<8xf32>, %[[Y:.*]]: tensor<9xf32>, %[[Z:.*]]: tensor<8xf32>)
// CHECK-NOT:   tensor.empty
// CHECK:       out_view(z = %[[Z]][i]
// CHECK:       out_view(y = %[[Y]][i]
func.func @kept(%x: tensor<8xf32>, %y: tensor<9xf32>, %z: tensor<8xf32>) -> tensor<9xf32> {
  %s = mdh.compute (i = 8)
    out_view(z = %z[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %r = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<9xf32>)
    md_hom(id, (cc))
    inp_view(s = %s[7 - i] : tensor<8xf32>)
  return %r : tensor<9xf32>
}

// -----

// What has no elements is an empty tensor, whatever it is expanded from.
// CHECK-LABEL: func.func @expanded
// CHECK-SAME:    (%{{.*}}: tensor<0x?xi32>, %[[N:.*]]: index)
// CHECK-NEXT:  %[[EMPTY:.*]] = tensor.empty(%[[N]]) : tensor<0x2x?xi32>
// CHECK-NEXT:  return %[[EMPTY]]
func.func @expanded(%x: tensor<0x?xi32>, %n: index) -> tensor<0x2x?xi32> {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [0, 2, %n] : tensor<0x?xi32> into tensor<0x2x?xi32>
  return %y : tensor<0x2x?xi32>
}
