// Functions of several blocks, and padding by index.
//
// RUN: mdh run %s --entry branch --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry branch --random 2 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry called --random 3 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry tensors --range n=3..4 --random 3 --check=all | FileCheck %s
// RUN: mdh run %s --entry tensors --range n=0..1 --random 3 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry pad --random 4 --check=all | FileCheck %s
// RUN: mdh run %s --entry pad --random 4 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry pad_open --random 4 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry generate --random 4 --check=all | FileCheck %s
// RUN: mdh run %s --entry generate --random 4 --check=all --no-raise | FileCheck %s
// CHECK: check passed: {{.*}} compared, no difference

func.func @branch(%m: memref<4xi32>, %c: i1) {
  %c1 = arith.constant 1 : index
  %x = memref.load %m[%c1] : memref<4xi32>
  cf.cond_br %c, ^yes(%x : i32), ^no
^no:
  %two = arith.constant 2 : i32
  %y = arith.muli %x, %two : i32
  cf.br ^yes(%y : i32)
^yes(%z: i32):
  memref.store %z, %m[%c1] : memref<4xi32>
  return
}

// A loop that doubles until it is large: blocks in another order than that of the ways through them.
func.func private @large(%m: memref<4xi32>) -> i32 attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %hundred = arith.constant 100 : i32
  cf.br ^head(%one, %m : i32, memref<4xi32>)
^end(%e: i32):
  return %e : i32
^body(%b: i32):
  %d = arith.addi %b, %b : i32
  memref.store %d, %n[%c0] : memref<4xi32>
  cf.br ^head(%d, %n : i32, memref<4xi32>)
^head(%h: i32, %n: memref<4xi32>):
  %is = arith.cmpi slt, %h, %hundred : i32
  cf.cond_br %is, ^body(%h : i32), ^end(%h : i32)
}
func.func @called(%m: memref<4xi32>) -> i32 {
  %r = func.call @large(%m) : (memref<4xi32>) -> i32
  return %r : i32
}

// Blocks that carry tensors.
func.func @tensors(%x: tensor<5xf32>, %n: index) -> (tensor<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<5xf32>)
^head(%i: index, %t: tensor<5xf32>):
  %goes = arith.cmpi slt, %i, %n : index
  cf.cond_br %goes, ^body, ^end
^body:
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (4 - i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%t, %x : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<5xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %y : index, tensor<5xf32>)
^end:
  return %t : tensor<5xf32>
}

func.func @pad(%x: tensor<3x4xi32>, %y: tensor<9xi32>) -> tensor<6x6xi32> {
  %p = tensor.pad %x low[1, 2] high[2, 0] {
  ^bb0(%i: index, %j: index):
    %k = arith.addi %i, %j : index
    %c9 = arith.constant 9 : index
    %l = arith.remui %k, %c9 : index
    %v = tensor.extract %y[%l] : tensor<9xi32>
    tensor.yield %v : i32
  } : tensor<3x4xi32> to tensor<6x6xi32>
  return %p : tensor<6x6xi32>
}
func.func @pad_open(%a: tensor<5xi32>) -> tensor<11xi32> {
  %x = tensor.cast %a : tensor<5xi32> to tensor<?xi32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %p = tensor.pad %x low[%n] high[1] {
  ^bb0(%i: index):
    %v = arith.index_cast %i : index to i32
    tensor.yield %v : i32
  } : tensor<?xi32> to tensor<?xi32>
  %q = tensor.cast %p : tensor<?xi32> to tensor<11xi32>
  return %q : tensor<11xi32>
}
func.func @generate(%y: tensor<9xi32>) -> tensor<3x2xi32> {
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.muli %i, %j : index
    %v = tensor.extract %y[%k] : tensor<9xi32>
    tensor.yield %v : i32
  } : tensor<3x2xi32>
  return %g : tensor<3x2xi32>
}
