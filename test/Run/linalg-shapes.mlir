// Slices, padding, reshapes and joined tensors between operations, before one, behind one and alone: nothing is
// copied but what is a result of its own, and that by a computation.
//
// RUN: mdh-opt %s --mdh-raise --mdh-checks --mdh-simplify --mdh-bufferize 2>/dev/null | FileCheck %s
// RUN: mdh run %s --check=all --entry pad_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_before 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_below --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_given --in l=-2 --in h=3 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_given --in l=3 --in h=-9 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_below --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_given --in l=-2 --in h=3 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_given --in l=3 --in h=-9 --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_added --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_computed --in h=0.5 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_itself --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_cut --in n=-2 h=0.5 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry pad_cut --in n=2 h=0.5 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry slice_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry slice_before --in o=3 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry slice_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry insert_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry insert_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry insert_before 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry expand_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry expand_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry expand_before 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry collapse_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry collapse_of_slice 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry concat_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry concat_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry concat_before 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry generate_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry copy_alone 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry subview_copy 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry subview_before --in o=3 --random 1 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry subview_after 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry expand_memory 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry collapse_memory 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(24).reshape(6, 4)"
// RUN: %python %S/Inputs/npy.py save %t.row.npy f4 "np.arange(24)"
// RUN: %python %S/Inputs/npy.py save %t.e.npy f4 "np.zeros((3, 8))"
// RUN: mdh run %s --check=all --entry pad_alone_dyn --in x=%t.x.npy n=2 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry collapse_before_dyn --in x=%t.x.npy e=%t.row.npy 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry expand_before_dyn --in x=%t.row.npy n=3 e=%t.e.npy 2>&1 | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --check=all --entry fill_alone --in d=5 2>&1 | FileCheck %s --check-prefix PASSED
// REQUIRES: numpy
// PASSED: check passed:

// CHECK-LABEL: func.func @pad_alone(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @pad_alone(%x: tensor<64x64xf32>) -> tensor<66x68xf32> {
  %z = arith.constant 1.0 : f32
  %p = tensor.pad %x low[1, 2] high[1, 2] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<64x64xf32> to tensor<66x68xf32>
  return %p : tensor<66x68xf32>
}

// Padding that is computed of its place, or given, is written before what is padded.
// CHECK-LABEL: func.func @pad_computed(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   scf.for
// CHECK-COUNT-5: mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @pad_computed(%x: tensor<6x7xf32>, %h: f32, %y: tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>) {
  %p = tensor.pad %x low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    %n = arith.subi %i, %j : index
    %w = arith.index_cast %n : index to i32
    %f = arith.sitofp %w : i32 to f32
    %s = arith.mulf %f, %h : f32
    tensor.yield %s : f32
  } : tensor<6x7xf32> to tensor<9x8xf32>
  %q = tensor.pad %x low[3, 0] high[0, 1] { ^bb0(%i: index, %j: index): tensor.yield %h : f32 } : tensor<6x7xf32> to tensor<9x8xf32>
  %r = linalg.add ins(%q, %y : tensor<9x8xf32>, tensor<9x8xf32>) outs(%y : tensor<9x8xf32>) -> tensor<9x8xf32>
  return %p, %r : tensor<9x8xf32>, tensor<9x8xf32>
}

func.func @pad_itself(%x: tensor<3x3xindex>) -> tensor<4x4xindex> {
  %p = tensor.pad %x low[1, 0] high[0, 1] { ^bb0(%i: index, %j: index): tensor.yield %j : index } : tensor<3x3xindex> to tensor<4x4xindex>
  return %p : tensor<4x4xindex>
}

// Elements that are cut off are not written.
func.func @pad_cut(%x: tensor<5xf32>, %n: index, %h: f32) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xf32>) {
  %p = tensor.pad %x low[-2] high[1] { ^bb0(%i: index): tensor.yield %h : f32 } : tensor<5xf32> to tensor<4xf32>
  %z = arith.constant 3.0 : f32
  %q = tensor.pad %x low[0] high[-1] { ^bb0(%i: index): tensor.yield %z : f32 } : tensor<5xf32> to tensor<4xf32>
  %r = tensor.pad %x low[%n] high[1] { ^bb0(%i: index): tensor.yield %h : f32 } : tensor<5xf32> to tensor<?xf32>
  return %p, %q, %r : tensor<4xf32>, tensor<4xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @pad_alone_dyn(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @pad_alone_dyn(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %z = arith.constant 1.0 : f32
  %p = tensor.pad %x low[%n, 2] high[1, %n] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @pad_before(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @pad_before(%x: tensor<64x64xf32>) -> tensor<66x68xf32> {
  %z = arith.constant 1.0 : f32
  %p = tensor.pad %x low[1, 2] high[1, 2] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<64x64xf32> to tensor<66x68xf32>
  %e = tensor.empty() : tensor<66x68xf32>
  %y = linalg.exp ins(%p : tensor<66x68xf32>) outs(%e : tensor<66x68xf32>) -> tensor<66x68xf32>
  return %y : tensor<66x68xf32>
}

// CHECK-LABEL: func.func @pad_after(
// CHECK-NOT:   memref.copy
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @pad_after(%x: tensor<64x64xf32>) -> tensor<66x68xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = tensor.pad %y low[1, 2] high[1, 2] { ^bb0(%i: index, %j: index): tensor.yield %z : f32 } : tensor<64x64xf32> to tensor<66x68xf32>
  return %p : tensor<66x68xf32>
}

// CHECK-LABEL: func.func @slice_alone(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @slice_alone(%x: tensor<64x64xf32>) -> tensor<32x16xf32> {
  %s = tensor.extract_slice %x[3, 4] [32, 16] [1, 2] : tensor<64x64xf32> to tensor<32x16xf32>
  return %s : tensor<32x16xf32>
}

// CHECK-LABEL: func.func @slice_before(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @slice_before(%x: tensor<64x64xf32>, %o: index) -> tensor<32x16xf32> {
  %s = tensor.extract_slice %x[%o, 4] [32, 16] [1, 2] : tensor<64x64xf32> to tensor<32x16xf32>
  %e = tensor.empty() : tensor<32x16xf32>
  %y = linalg.exp ins(%s : tensor<32x16xf32>) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %y : tensor<32x16xf32>
}

// CHECK-LABEL: func.func @slice_after(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @slice_after(%x: tensor<64x64xf32>) -> tensor<32x16xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = tensor.extract_slice %y[3, 4] [32, 16] [1, 2] : tensor<64x64xf32> to tensor<32x16xf32>
  return %s : tensor<32x16xf32>
}

// The other elements are those of the argument, which are copied to the result.
// CHECK-LABEL: func.func @insert_alone(
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK:       memref.copy %arg1, %arg2
// CHECK-NEXT:  return
func.func @insert_alone(%x: tensor<32x16xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = tensor.insert_slice %x into %d[3, 4] [32, 16] [1, 2] : tensor<32x16xf32> into tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// The other elements are those of the argument, which are copied to the result.
// CHECK-LABEL: func.func @insert_after(
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK:       memref.copy %arg1, %arg2
// CHECK-NEXT:  return
func.func @insert_after(%x: tensor<32x16xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<32x16xf32>
  %y = linalg.exp ins(%x : tensor<32x16xf32>) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %s = tensor.insert_slice %y into %d[3, 4] [32, 16] [1, 2] : tensor<32x16xf32> into tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @insert_before(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @insert_before(%x: tensor<32x16xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = tensor.insert_slice %x into %d[3, 4] [32, 16] [1, 2] : tensor<32x16xf32> into tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.exp ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// A result is memory of its own.
// CHECK-LABEL: func.func @expand_alone(
// CHECK-NOT:   memref.alloc
// CHECK:       memref.copy
// CHECK-NEXT:  return
func.func @expand_alone(%x: tensor<64x64xf32>) -> tensor<8x8x64xf32> {
  %s = tensor.expand_shape %x [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
  return %s : tensor<8x8x64xf32>
}

// CHECK-LABEL: func.func @expand_after(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @expand_after(%x: tensor<64x64xf32>) -> tensor<8x8x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = tensor.expand_shape %y [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
  return %s : tensor<8x8x64xf32>
}

// CHECK-LABEL: func.func @expand_before(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @expand_before(%x: tensor<64x64xf32>) -> tensor<8x8x64xf32> {
  %s = tensor.expand_shape %x [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
  %e = tensor.empty() : tensor<8x8x64xf32>
  %y = linalg.exp ins(%s : tensor<8x8x64xf32>) outs(%e : tensor<8x8x64xf32>) -> tensor<8x8x64xf32>
  return %y : tensor<8x8x64xf32>
}

// CHECK-LABEL: func.func @collapse_after(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @collapse_after(%x: tensor<64x64xf32>) -> tensor<4096xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = tensor.collapse_shape %y [[0, 1]] : tensor<64x64xf32> into tensor<4096xf32>
  return %s : tensor<4096xf32>
}

// What it reads is a view; the destination is an argument, which is written and copied to the result.
// CHECK-LABEL: func.func @collapse_before_dyn(
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
func.func @collapse_before_dyn(%x: tensor<?x?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %y = linalg.exp ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// What it reads is a view; the destination is an argument, which is written and copied to the result.
// CHECK-LABEL: func.func @expand_before_dyn(
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
func.func @expand_before_dyn(%x: tensor<?xf32>, %n: index, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = tensor.expand_shape %x [[0, 1]] output_shape [%n, 8] : tensor<?xf32> into tensor<?x8xf32>
  %y = linalg.exp ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// Rows with something between them are no memory in another shape.
// CHECK-LABEL: func.func @collapse_of_slice(
// CHECK-NOT:   memref.alloc
// CHECK:       memref.copy
// CHECK-NEXT:  return
func.func @collapse_of_slice(%x: tensor<64x64xf32>) -> tensor<2048xf32> {
  %t = tensor.extract_slice %x[0, 0] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
  %s = tensor.collapse_shape %t [[0, 1]] : tensor<64x32xf32> into tensor<2048xf32>
  return %s : tensor<2048xf32>
}

// CHECK-LABEL: func.func @concat_alone(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @concat_alone(%x: tensor<32x16xf32>, %y: tensor<8x16xf32>) -> tensor<40x16xf32> {
  %s = tensor.concat dim(0) %x, %y : (tensor<32x16xf32>, tensor<8x16xf32>) -> tensor<40x16xf32>
  return %s : tensor<40x16xf32>
}

// CHECK-LABEL: func.func @concat_after(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @concat_after(%x: tensor<32x16xf32>, %y: tensor<8x16xf32>) -> tensor<40x16xf32> {
  %e = tensor.empty() : tensor<32x16xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %a = linalg.exp ins(%x : tensor<32x16xf32>) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %b = linalg.sqrt ins(%y : tensor<8x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = tensor.concat dim(0) %a, %b : (tensor<32x16xf32>, tensor<8x16xf32>) -> tensor<40x16xf32>
  return %s : tensor<40x16xf32>
}

// CHECK-LABEL: func.func @concat_before(
// CHECK-NOT:   memref.copy
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @concat_before(%x: tensor<32x16xf32>, %y: tensor<8x16xf32>) -> tensor<40x16xf32> {
  %s = tensor.concat dim(0) %x, %y : (tensor<32x16xf32>, tensor<8x16xf32>) -> tensor<40x16xf32>
  %e = tensor.empty() : tensor<40x16xf32>
  %a = linalg.exp ins(%s : tensor<40x16xf32>) outs(%e : tensor<40x16xf32>) -> tensor<40x16xf32>
  return %a : tensor<40x16xf32>
}

// CHECK-LABEL: func.func @fill_alone(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @fill_alone(%d: index) -> tensor<?x16xf32> {
  %z = arith.constant 1.0 : f32
  %e = tensor.empty(%d) : tensor<?x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %f : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @generate_alone(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @generate_alone(%x: tensor<64xf32>) -> tensor<64x64xf32> {
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<64x64xf32>
  return %g : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @copy_alone(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @copy_alone(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  memref.copy %x, %y : memref<64x64xf32> to memref<64x64xf32>
  return
}

// CHECK-LABEL: func.func @subview_copy(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @subview_copy(%x: memref<64x64xf32>, %y: memref<32x16xf32>) {
  %s = memref.subview %x[3, 4] [32, 16] [1, 2] : memref<64x64xf32> to memref<32x16xf32, strided<[64, 2], offset: 196>>
  memref.copy %s, %y : memref<32x16xf32, strided<[64, 2], offset: 196>> to memref<32x16xf32>
  return
}

// CHECK-LABEL: func.func @subview_before(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @subview_before(%x: memref<64x64xf32>, %y: memref<32x16xf32>, %o: index) {
  %s = memref.subview %x[%o, 4] [32, 16] [1, 2] : memref<64x64xf32> to memref<32x16xf32, strided<[64, 2], offset: ?>>
  linalg.exp ins(%s : memref<32x16xf32, strided<[64, 2], offset: ?>>) outs(%y : memref<32x16xf32>)
  return
}

// CHECK-LABEL: func.func @subview_after(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @subview_after(%x: memref<64x64xf32>, %y: memref<32x16xf32>) {
  %s = memref.subview %x[3, 4] [32, 16] [1, 2] : memref<64x64xf32> to memref<32x16xf32, strided<[64, 2], offset: 196>>
  linalg.exp ins(%y : memref<32x16xf32>) outs(%s : memref<32x16xf32, strided<[64, 2], offset: 196>>)
  return
}

// CHECK-LABEL: func.func @expand_memory(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @expand_memory(%x: memref<64x64xf32>, %y: memref<8x8x64xf32>) {
  %s = memref.expand_shape %x [[0, 1], [2]] output_shape [8, 8, 64] : memref<64x64xf32> into memref<8x8x64xf32>
  linalg.exp ins(%s : memref<8x8x64xf32>) outs(%y : memref<8x8x64xf32>)
  return
}

// CHECK-LABEL: func.func @collapse_memory(
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.alloc
// CHECK:       mdh.compute
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @collapse_memory(%x: memref<64x64xf32>, %y: memref<4096xf32>) {
  %s = memref.collapse_shape %x [[0, 1]] : memref<64x64xf32> into memref<4096xf32>
  linalg.exp ins(%y : memref<4096xf32>) outs(%s : memref<4096xf32>)
  return
}

// Padding below zero leaves elements out.
func.func @pad_below(%x: tensor<7x8xf32>) -> tensor<6x9xf32> {
  %h = arith.constant 0.5 : f32
  %p = tensor.pad %x low[-2, 3] high[1, -2] { ^bb0(%i: index, %j: index): tensor.yield %h : f32 } : tensor<7x8xf32> to tensor<6x9xf32>
  return %p : tensor<6x9xf32>
}

func.func @pad_given(%x: tensor<7xf32>, %l: index, %h: index) -> tensor<?xf32> {
  %c = arith.constant 0.5 : f32
  %p = tensor.pad %x low[%l] high[%h] { ^bb0(%i: index): tensor.yield %c : f32 } : tensor<7xf32> to tensor<?xf32>
  return %p : tensor<?xf32>
}

// As a destination, too.
func.func @pad_added(%x: tensor<6xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %c = arith.constant 5 : i32
  %p = tensor.pad %x low[-1] high[-1] { ^bb0(%i: index): tensor.yield %c : i32 } : tensor<6xi32> to tensor<4xi32>
  %r = linalg.add ins(%y, %y : tensor<4xi32>, tensor<4xi32>) outs(%p : tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
