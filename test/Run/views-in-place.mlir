// Updates that run where they are, because what they read is not written, or written later only.
//
// RUN: mdh-opt %s --mdh-bufferize | FileCheck %s
// RUN: mdh run %s --entry red_black --random 1 --check
// RUN: mdh run %s --entry halves --random 1 --check
// RUN: mdh run %s --entry rewritten --random 1 --check
// RUN: mdh run %s --entry sums --random 1 --check
// RUN: %python %S/Inputs/npy.py save %t.x.npy i4 "np.arange(80)"
// RUN: mdh run %s --entry sizes --in %t.x.npy 40 --check
// RUN: mdh run %s --entry red_black --random 1 --check-each-step
// RUN: mdh run %s --entry sums --random 1 --check-each-step
// RUN: mdh run %s --entry conflict --random 1 --check
// RUN: mdh run %s --entry beside --random 1 --check
// RUN: mdh run %s --entry beside --device sim --random 1 --check
// RUN: not mdh-opt %S/Inputs/conflict.mlir 2>&1 | FileCheck %S/Inputs/conflict.mlir

// A step of Gauss and Seidel: every other point is computed from its neighbours, then the others.
// CHECK-LABEL: func.func @red_black(
// CHECK-SAME: %{{.*}}: memref<1000xf32>, %[[Y:.*]]: memref<1000xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: mdh.compute (i = 1 to 999 step 2)
// CHECK-NEXT: out_view(y = %[[Y]][i] : memref<1000xf32>)
// CHECK-NEXT: md_hom
// CHECK-NEXT: inp_view(x = %[[Y]][i - 1][i + 1] : memref<1000xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
func.func @red_black(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %none = tensor.empty() : tensor<1000xf32>
  %y = mdh.compute (i = 1000)
    out_view(y = %none[i] : tensor<1000xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<1000xf32>)
  %red = mdh.compute (i = 1 to 999 step 2)
    out_view(y = %y[i] : tensor<1000xf32>)
    md_hom(addf, (cc))
    inp_view(x = %y[i - 1][i + 1] : tensor<1000xf32>)
  %black = mdh.compute (i = 2 to 999 step 2)
    out_view(y = %red[i] : tensor<1000xf32>)
    md_hom(addf, (cc))
    inp_view(x = %red[i - 1][i + 1] : tensor<1000xf32>)
  return %black : tensor<1000xf32>
}

// The upper half is added to the lower one: one access in place, the other of what stays.
// CHECK-LABEL: func.func @halves(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @halves(%x: tensor<64x32xi32>) -> tensor<64x32xi32> {
  %none = tensor.empty() : tensor<64x32xi32>
  %y = mdh.compute (i = 64, j = 32)
    out_view(y = %none[i, j] : tensor<64x32xi32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<64x32xi32>)
  %z = mdh.compute (i = 32, j = 32)
    out_view(z = %y[i, j] : tensor<64x32xi32>)
    md_hom(addi, (cc, cc))
    inp_view(y = %y[i, j][i + 32, j] : tensor<64x32xi32>)
  return %z : tensor<64x32xi32>
}

// The same element, said otherwise.
// CHECK-LABEL: func.func @rewritten(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @rewritten(%x: tensor<64xi32>) -> tensor<64xi32> {
  %none = tensor.empty() : tensor<64xi32>
  %y = mdh.compute (i = 64)
    out_view(y = %none[i] : tensor<64xi32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<64xi32>)
  %z = mdh.compute (i = 8, j = 8)
    out_view(z = %y[8 * i + j] : tensor<64xi32>)
    md_hom(addi, (cc, cc))
    inp_view(y = %y[8 * i + j mod 8] : tensor<64xi32>, x = %x[8 * j + i] : tensor<64xi32>)
  return %z : tensor<64xi32>
}

// Sums of the upper rows, and prefix sums of them, where none of them is.
// CHECK-LABEL: func.func @sums(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @sums(%x: tensor<65x64xi32>) -> tensor<65x64xi32> {
  %none = tensor.empty() : tensor<65x64xi32>
  %y = mdh.compute (i = 65, j = 64)
    out_view(y = %none[i, j] : tensor<65x64xi32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<65x64xi32>)
  %z = mdh.compute (j = 64, i = 1 to 65)
    out_view(z = %y[0, j] : tensor<65x64xi32>)
    md_hom(id, (cc, pw(addi)))
    inp_view(y = %y[i, j] : tensor<65x64xi32>)
  %w = mdh.compute (i = 32, j = 64)
    out_view(w = %z[2 * i + 1, j] : tensor<65x64xi32>)
    md_hom(id, (cc, ps(addi)))
    inp_view(z = %z[2 * i, j] : tensor<65x64xi32>)
  return %w : tensor<65x64xi32>
}

// A size that is known at run time.
// CHECK-LABEL: func.func @sizes(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @sizes(%x: tensor<80xi32>, %n: index) -> tensor<80xi32> {
  %none = tensor.empty() : tensor<80xi32>
  %y = mdh.compute (i = 80)
    out_view(y = %none[i] : tensor<80xi32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<80xi32>)
  %z = mdh.compute (i = %n)
    out_view(z = %y[2 * i] : tensor<80xi32>)
    md_hom(id, (cc))
    inp_view(y = %y[2 * i + 1] : tensor<80xi32>)
  return %z : tensor<80xi32>
}

// Where a point reads what another one writes, a copy is read.
// CHECK-LABEL: func.func @conflict(
// CHECK: memref.alloc
// CHECK: return
func.func @conflict(%x: tensor<64xi32>) -> tensor<64xi32> {
  %none = tensor.empty() : tensor<64xi32>
  %y = mdh.compute (i = 64)
    out_view(y = %none[i] : tensor<64xi32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<64xi32>)
  %z = mdh.compute (i = 64)
    out_view(z = %y[i] : tensor<64xi32>)
    md_hom(id, (cc))
    inp_view(y = %y[63 - i] : tensor<64xi32>)
  return %z : tensor<64xi32>
}

// What is read lies beside the memory for all points, which tiles do not show.
func.func @beside(%y: tensor<8x40xi64>) -> tensor<8x40xi64> {
  %r = mdh.compute (i = -1 to 1, j = 8, k = 40)
    out_view(y = %y[j, k] : tensor<8x40xi64>)
    md_hom(id, (pw(addi), cc, cc))
    inp_view(x = %y[(i - 3) floordiv 2, k] pad(0 : i64) : tensor<8x40xi64>)
  return %r : tensor<8x40xi64>
}
