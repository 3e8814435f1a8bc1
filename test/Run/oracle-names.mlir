// Memory by other names: permuted, under other strides, carried by loops and branches, global.
//
// RUN: mdh run %s --entry permuted --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry permuted --random 1 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry open --random 1 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry strides --random 2 --check=all | FileCheck %s
// RUN: mdh run %s --entry strides --random 2 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry turns --random 3 --check=all | FileCheck %s
// RUN: mdh run %s --entry turns --random 3 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry new --random 3 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry chosen --random 4 --check=all | FileCheck %s
// RUN: mdh run %s --entry chosen --random 5 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry global --random 6 --check=all | FileCheck %s
// RUN: mdh run %s --entry global --random 6 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry shifted --random 7 --check=all | FileCheck %s
// RUN: mdh run %s --entry shifted --random 7 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry itself --random 7 --check=all | FileCheck %s
// RUN: mdh run %s --entry itself --random 7 --check=all --no-raise | FileCheck %s
// RUN: mdh run %s --entry while --random 7 --check=all | FileCheck %s
// RUN: mdh run %s --entry while --random 7 --check=all --no-raise | FileCheck %s
// CHECK: check passed: {{.*}} compared, no difference

func.func @permuted(%m: memref<3x4x5xi32>, %o: memref<5x3x4xi32>) {
  %t = memref.transpose %m (i, j, k) -> (k, i, j) : memref<3x4x5xi32> to memref<5x3x4xi32, strided<[1, 20, 5]>>
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o : memref<5x3x4xi32>) outs(%t : memref<5x3x4xi32, strided<[1, 20, 5]>>) {
  ^bb0(%x: i32, %y: i32):
    %z = arith.subi %x, %y : i32
    linalg.yield %z : i32
  }
  return
}
func.func @open(%a: memref<4x3xi32>) {
  %m = memref.cast %a : memref<4x3xi32> to memref<?x?xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.transpose %m (i, j) -> (j, i) : memref<?x?xi32> to memref<?x?xi32, strided<[1, ?]>>
  %p = memref.dim %t, %c0 : memref<?x?xi32, strided<[1, ?]>>
  %q = memref.dim %t, %c1 : memref<?x?xi32, strided<[1, ?]>>
  scf.for %i = %c0 to %p step %c1 {
    scf.for %j = %c0 to %q step %c1 {
      %x = memref.load %m[%j, %i] : memref<?x?xi32>
      %n = arith.index_cast %i : index to i32
      %y = arith.muli %x, %n : i32
      memref.store %y, %t[%i, %j] : memref<?x?xi32, strided<[1, ?]>>
    }
  }
  return
}

// Columns of pairs, of a part of which only the memory counts.
func.func @strides(%m: memref<4x6xi32>, %o: memref<2x3xi32>) {
  %c2 = arith.constant 2 : index
  %s = memref.subview %m[1, 2] [2, 3] [1, 1] : memref<4x6xi32> to memref<2x3xi32, strided<[6, 1], offset: 8>>
  %r = memref.reinterpret_cast %s to offset: [%c2], sizes: [2, 3], strides: [1, 5] : memref<2x3xi32, strided<[6, 1], offset: 8>> to memref<2x3xi32, strided<[1, 5], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%o : memref<2x3xi32>) outs(%r : memref<2x3xi32, strided<[1, 5], offset: ?>>) {
  ^bb0(%x: i32, %y: i32):
    %z = arith.subi %x, %y : i32
    linalg.yield %z : i32
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // Each element of it is in three places: stores in loops go where they go.
  %w = memref.reinterpret_cast %m to offset: [3], sizes: [3, 4], strides: [0, 1] : memref<4x6xi32> to memref<3x4xi32, strided<[0, 1], offset: 3>>
  scf.for %i = %c0 to %c2 step %c1 {
    %x = memref.load %w[%i, %c2] : memref<3x4xi32, strided<[0, 1], offset: 3>>
    %y = arith.addi %x, %x : i32
    memref.store %y, %w[%c1, %c2] : memref<3x4xi32, strided<[0, 1], offset: 3>>
  }
  return
}

// Two memrefs take turns; what the loop leaves are they.
func.func @turns(%a: memref<5xi32>, %b: memref<5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%x = %a, %y = %b) -> (memref<5xi32>, memref<5xi32>) {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%x : memref<5xi32>) outs(%y : memref<5xi32>) {
    ^bb0(%p: i32, %q: i32):
      %n = arith.index_cast %t : index to i32
      %s = arith.addi %p, %n : i32
      %u = arith.muli %s, %q : i32
      linalg.yield %u : i32
    }
    scf.yield %y, %x : memref<5xi32>, memref<5xi32>
  }
  %v = memref.load %r#0[%c3] : memref<5xi32>
  memref.store %v, %r#1[%c0] : memref<5xi32>
  return
}

// Memory of each iteration, of which the next one has that of the one before.
func.func @new(%a: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%x = %a) -> (memref<4xi32>) {
    %n = memref.alloc() : memref<4xi32>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%x : memref<4xi32>) outs(%n : memref<4xi32>) {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %p : i32
      linalg.yield %s : i32
    }
    %v = memref.load %n[%t] : memref<4xi32>
    memref.store %v, %x[%c3] : memref<4xi32>
    scf.yield %n : memref<4xi32>
  }
  memref.copy %r, %a : memref<4xi32> to memref<4xi32>
  return
}

func.func @chosen(%a: memref<5xi32>, %b: memref<5xi32>, %c: i1) {
  %r = scf.if %c -> memref<5xi32> {
    scf.yield %a : memref<5xi32>
  } else {
    scf.yield %b : memref<5xi32>
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (4 - i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : memref<5xi32>) outs(%r : memref<5xi32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  }
  return
}

memref.global "private" constant @table : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>
memref.global "private" @state : memref<2x2xi32> = dense<7>
memref.global "private" @scratch : memref<2x2xi32> = uninitialized
func.func private @add(%m: memref<2x2xi32>) attributes {no_inline} {
  %s = memref.get_global @state : memref<2x2xi32>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%m : memref<2x2xi32>) outs(%s : memref<2x2xi32>) {
  ^bb0(%p: i32, %q: i32):
    %t = arith.addi %p, %q : i32
    linalg.yield %t : i32
  }
  return
}
func.func @global(%m: memref<2x2xi32>) {
  %t = memref.get_global @table : memref<2x2xi32>
  %s = memref.get_global @state : memref<2x2xi32>
  %u = memref.get_global @scratch : memref<2x2xi32>
  func.call @add(%t) : (memref<2x2xi32>) -> ()
  func.call @add(%m) : (memref<2x2xi32>) -> ()
  memref.copy %s, %u : memref<2x2xi32> to memref<2x2xi32>
  func.call @add(%u) : (memref<2x2xi32>) -> ()
  memref.copy %s, %m : memref<2x2xi32> to memref<2x2xi32>
  return
}

// Parts of one memref that overlap, and a transposed one: loops go in order.
func.func @shifted(%m: memref<6xi32>) {
  %a = memref.reinterpret_cast %m to offset: [0], sizes: [5], strides: [1] : memref<6xi32> to memref<5xi32, strided<[1]>>
  %b = memref.reinterpret_cast %m to offset: [1], sizes: [5], strides: [1] : memref<6xi32> to memref<5xi32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : memref<5xi32, strided<[1]>>) outs(%b : memref<5xi32, strided<[1], offset: 1>>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  }
  return
}

func.func @itself(%m: memref<4x4xi32>) {
  %t = memref.transpose %m (i, j) -> (j, i) : memref<4x4xi32> to memref<4x4xi32, strided<[1, 4]>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%t : memref<4x4xi32, strided<[1, 4]>>) outs(%m : memref<4x4xi32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  }
  return
}

// The condition of a loop exchanges what it carries.
func.func @while(%m: memref<6xi32>, %n: memref<6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:3 = scf.while (%i = %c0, %a = %m, %b = %n) : (index, memref<6xi32>, memref<6xi32>) -> (index, memref<6xi32>, memref<6xi32>) {
    %g = arith.cmpi slt, %i, %c3 : index
    scf.condition(%g) %i, %b, %a : index, memref<6xi32>, memref<6xi32>
  } do {
  ^bb0(%i: index, %a: memref<6xi32>, %b: memref<6xi32>):
    linalg.generic {indexing_maps = [affine_map<(i) -> (5 - i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : memref<6xi32>) outs(%b : memref<6xi32>) {
    ^bb0(%p: i32, %q: i32):
      %s = arith.addi %p, %q : i32
      linalg.yield %s : i32
    }
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %a, %b : index, memref<6xi32>, memref<6xi32>
  }
  memref.copy %r#1, %r#2 : memref<6xi32> to memref<6xi32>
  return
}
