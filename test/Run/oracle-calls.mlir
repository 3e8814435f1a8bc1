// The oracle reads functions that are called as what they do: memory by reference, also twice the same.
//
// RUN: mdh run %s --entry several --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry several --random 1 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry twice --random 2 --check=all | FileCheck %s
// RUN: mdh run %s --entry twice --random 2 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry shared --random 3 --check=all | FileCheck %s
// RUN: mdh run %s --entry shared --random 3 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry overlapping --random 3 --check=all | FileCheck %s
// RUN: mdh run %s --entry overlapping --random 3 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry looped --random 4 --check=all | FileCheck %s
// RUN: mdh run %s --entry looped --random 4 --check=all --no-raise | FileCheck %s
// CHECK: check passed: {{.*}} compared, no difference

// Several results, of which one is a number; the inner call is of a function that is called twice.
func.func private @half(%x: f32) -> f32 attributes {no_inline} {
  %c = arith.constant 0.5 : f32
  %y = arith.mulf %x, %c : f32
  return %y : f32
}
func.func private @both(%x: tensor<7xf32>, %n: f32) -> (tensor<7xf32>, f32) attributes {no_inline} {
  %h = func.call @half(%n) : (f32) -> f32
  %e = tensor.empty() : tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.mulf %a, %h : f32
    linalg.yield %z : f32
  } -> tensor<7xf32>
  %k = func.call @half(%h) : (f32) -> f32
  return %y, %k : tensor<7xf32>, f32
}
func.func @several(%x: tensor<7xf32>, %n: f32) -> (tensor<7xf32>, f32) {
  %a:2 = func.call @both(%x, %n) : (tensor<7xf32>, f32) -> (tensor<7xf32>, f32)
  %b:2 = func.call @both(%a#0, %a#1) : (tensor<7xf32>, f32) -> (tensor<7xf32>, f32)
  return %b#0, %b#1 : tensor<7xf32>, f32
}

// What is written by one name is read by the other.
func.func private @transposed(%a: memref<6x6xi32>, %b: memref<6x6xi32>) attributes {no_inline} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : memref<6x6xi32>) outs(%b : memref<6x6xi32>) {
  ^bb0(%x: i32, %y: i32):
    %z = arith.addi %x, %y : i32
    linalg.yield %z : i32
  }
  return
}
func.func @twice(%m: memref<6x6xi32>, %n: memref<6x6xi32>) {
  func.call @transposed(%n, %m) : (memref<6x6xi32>, memref<6x6xi32>) -> ()
  func.call @transposed(%m, %m) : (memref<6x6xi32>, memref<6x6xi32>) -> ()
  return
}

// Parts of one memref.
func.func private @moved(%a: memref<8xi32, strided<[1], offset: ?>>, %b: memref<8xi32, strided<[1], offset: ?>>)
    attributes {no_inline} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : memref<8xi32, strided<[1], offset: ?>>)
      outs(%b : memref<8xi32, strided<[1], offset: ?>>) {
  ^bb0(%x: i32, %y: i32):
    %z = arith.addi %x, %y : i32
    linalg.yield %z : i32
  }
  return
}
func.func @shared(%m: memref<16xi32>) {
  %a = memref.subview %m[0] [8] [1] : memref<16xi32> to memref<8xi32, strided<[1]>>
  %b = memref.subview %m[8] [8] [1] : memref<16xi32> to memref<8xi32, strided<[1], offset: 8>>
  %p = memref.cast %a : memref<8xi32, strided<[1]>> to memref<8xi32, strided<[1], offset: ?>>
  %q = memref.cast %b : memref<8xi32, strided<[1], offset: 8>> to memref<8xi32, strided<[1], offset: ?>>
  func.call @moved(%p, %q) : (memref<8xi32, strided<[1], offset: ?>>, memref<8xi32, strided<[1], offset: ?>>) -> ()
  func.call @moved(%q, %p) : (memref<8xi32, strided<[1], offset: ?>>, memref<8xi32, strided<[1], offset: ?>>) -> ()
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  memref.store %c7, %q[%c0] : memref<8xi32, strided<[1], offset: ?>>
  return
}
func.func @overlapping(%m: memref<16xi32>) {
  %a = memref.subview %m[0] [8] [1] : memref<16xi32> to memref<8xi32, strided<[1]>>
  %b = memref.subview %m[1] [8] [1] : memref<16xi32> to memref<8xi32, strided<[1], offset: 1>>
  %p = memref.cast %a : memref<8xi32, strided<[1]>> to memref<8xi32, strided<[1], offset: ?>>
  %q = memref.cast %b : memref<8xi32, strided<[1], offset: 1>> to memref<8xi32, strided<[1], offset: ?>>
  func.call @moved(%p, %q) : (memref<8xi32, strided<[1], offset: ?>>, memref<8xi32, strided<[1], offset: ?>>) -> ()
  return
}

// In a loop of upstream's, which is read in another module.
func.func private @stored(%m: memref<9xi32>, %i: index) attributes {no_inline} {
  %n = arith.index_cast %i : index to i32
  %x = memref.load %m[%i] : memref<9xi32>
  %y = arith.addi %x, %n : i32
  memref.store %y, %m[%i] : memref<9xi32>
  return
}
func.func @looped(%m: memref<9xi32>) {
  affine.for %i = 1 to 9 step 2 {
    func.call @stored(%m, %i) : (memref<9xi32>, index) -> ()
  }
  return
}
