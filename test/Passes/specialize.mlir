// Versions of functions for sizes: types and numbers become known, and nothing else.
//
// RUN: mdh-opt %s --split-input-file --mdh-specialize --verify-diagnostics | FileCheck %s
//
// They are made on every way to code, and picked at the call.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(mdh-lower{stage=bufferized})' \
// RUN:   | FileCheck %s --check-prefix PICKED

// The second one leaves rows open; strides and offsets stay, and a slice of another type gets a cast.
// CHECK-LABEL: func.func private @copy_8x5_8x5_9(
// CHECK-SAME:    %[[X:[^:]*]]: memref<8x5xf32, strided<[?, 1], offset: ?>>, %[[Y:[^:]*]]: memref<8x5xf32>, %{{.*}}: index) -> f32 attributes {mdh.sizes = "8x5, 8x5, 9"} {
// CHECK:         %[[CAST:.*]] = memref.cast %[[X]]
// CHECK:         mdh.compute (i = 8, j = 5)
// CHECK-NEXT:      out_view(y = %[[Y]][i, j] : memref<8x5xf32>)
// CHECK:           inp_view(x = %[[X]][i, j] : memref<8x5xf32, strided<[?, 1], offset: ?>>)
// CHECK:         memref.subview %[[CAST]]
// CHECK-LABEL: func.func private @copy_nx4_nx4_n(
// CHECK:         mdh.compute (i = %{{.*}}, j = 4)
// CHECK-LABEL: func.func @copy(
// CHECK-SAME:    mdh.versions = [@copy_8x5_8x5_9, @copy_nx4_nx4_n]
// CHECK:         mdh.compute (i = %{{.*}}, j = %{{.*}})

// PICKED-LABEL: func.func @copy(
// PICKED-NOT:     mdh.versions
// PICKED:         arith.cmpi eq, %arg2, %c9
// PICKED:         scf.if
// PICKED:           func.call @copy_8x5_8x5_9(
// PICKED-SAME:        (memref<8x5xf32, strided<[?, 1], offset: ?>>, memref<8x5xf32>, index) -> f32
// PICKED:         } else {
// PICKED:           scf.if
// PICKED:             func.call @copy_nx4_nx4_n(
// PICKED:           } else {
// PICKED:             func.call @copy_any(
// PICKED-LABEL: func.func private @copy_any(
func.func @copy(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %y: memref<?x?xf32>, %n: index) -> f32
    attributes {mdh.versions = ["8x5, 8x5, 9", "?x4, ?x4, ?"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %y, %c1 : memref<?x?xf32>
  %h = arith.subi %n, %c1 : index
  mdh.compute (i = %h, j = %m)
    out_view(y = %y[i, j] : memref<?x?xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<?x?xf32, strided<[?, 1], offset: ?>>)
  %s = memref.subview %x[0, 0] [1, 1] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<1x1xf32, strided<[?, 1], offset: ?>>
  %r = memref.load %s[%c0, %c0] : memref<1x1xf32, strided<[?, 1], offset: ?>>
  return %r : f32
}

// -----

// A chain of tensors, whose results are of known sizes too; names that are taken.
// CHECK-LABEL: func.func private @twice_4_1(
// CHECK-SAME:    tensor<4xf32>) -> tensor<4xf32>
// CHECK:         mdh.compute (i = 4)
// CHECK:           out_view(t = %{{.*}}[i] : tensor<4xf32>)
// CHECK:         mdh.compute (i = 4)
// CHECK:           inp_view(t = %{{.*}}[i] : tensor<4xf32>)
func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> attributes {mdh.versions = ["4"]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %t = mdh.compute (i = %n)
    out_view(t = %e[i] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = arith.addf %a, %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %m = tensor.dim %t, %c0 : tensor<?xf32>
  %y = mdh.compute (i = %m)
    out_view(y = %e[i] : tensor<?xf32>)
    md_hom((%a: f32) {
      %b = math.exp %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(t = %t[i] : tensor<?xf32>)
  return %y : tensor<?xf32>
}
func.func private @twice_4()

// -----

// Sizes that a computation does not allow: no version, and the function is as it was.
// CHECK-LABEL: func.func @beyond(
// CHECK-NOT:     mdh.versions
// expected-remark @+1 {{has no version for the sizes '4, 5': its computations do not allow them}}
func.func @beyond(%x: memref<?xf32>, %y: memref<?xf32>) attributes {mdh.versions = ["4, 5"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
  return
}

// -----

// Silent: nothing asks for versions.
// CHECK-LABEL: func.func @plain(
func.func @plain(%x: memref<?xf32>) {
  return
}

// -----

// expected-error @+1 {{is wanted for the sizes '4': found those of 1 argument, expected 2}}
func.func @count(%x: memref<?xf32>, %y: memref<?xf32>) attributes {mdh.versions = ["4"]} {
  return
}

// -----

// expected-error @+1 {{is wanted for the sizes '4x8': those of argument 0 are none of memref<?x7xf32>}}
func.func @other(%x: memref<?x7xf32>) attributes {mdh.versions = ["4x8"]} {
  return
}

// -----

// expected-error @+1 {{is wanted for the sizes '4': it has no body}}
func.func private @declared(memref<?xf32>) attributes {mdh.versions = ["4"]}
func.func @user(%x: memref<?xf32>) {
  call @declared(%x) : (memref<?xf32>) -> ()
  return
}
