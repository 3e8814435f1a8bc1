// What the oracle reads of memory: its place in other memory, bytes that are numbers, other shapes, and
// memory behind tensors; and switches and assertions beside it.
//
// RUN: mdh run %s --entry places --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_places --size i=5 --random 1 --check=all --range n=1..2 | FileCheck %s
// RUN: mdh run %s --entry arena --random 1 --check=all --range n=8..9 | FileCheck %s
// RUN: mdh run %s --entry reshaped --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry buffers --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry switch --random 1 --check=all --in n=1 | FileCheck %s
// RUN: mdh run %s --entry switch --random 1 --check=all --in n=-2 --no-raise | FileCheck %s
// RUN: mdh run %s --entry switch --random 1 --check=all --in n=3 | FileCheck %s
// RUN: mdh run %s --entry switch --random 1 --check=all --in n=4 | FileCheck %s
// RUN: mdh run %s --entry only --random 1 --check=all --in n=4 | FileCheck %s
// RUN: mdh run %s --entry asserted --random 1 --check=all 2>&1 | FileCheck %s
// CHECK: check passed: {{.*}} compared, no difference
//
// What is asserted fails where it runs.
// RUN: not mdh run %s --entry asserted --random 1 --check=all --range x=3..4 2>&1 | FileCheck %s --check-prefix=ASSERTED
// ASSERTED: too large

// The place of a part of a part, by its type and by what made it.
func.func @places(%m: memref<6x7xi32>, %o: memref<9xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %i5 = arith.constant 5 : i32
  %s = memref.subview %m[1, 2] [3, 2] [2, 3] : memref<6x7xi32> to memref<3x2xi32, strided<[14, 3], offset: 9>>
  %base, %off, %sz:2, %st:2 = memref.extract_strided_metadata %s : memref<3x2xi32, strided<[14, 3], offset: 9>> -> memref<i32>, index, index, index, index, index
  %r = memref.reinterpret_cast %base to offset: [%off], sizes: [%sz#0, %sz#1], strides: [%st#0, %st#1] : memref<i32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
  memref.store %i5, %r[%c2, %c1] : memref<?x?xi32, strided<[?, ?], offset: ?>>
  memref.store %off, %o[%c0] : memref<9xindex>
  memref.store %st#0, %o[%c1] : memref<9xindex>
  memref.store %sz#1, %o[%c2] : memref<9xindex>
  %t = memref.transpose %r (i, j) -> (j, i) : memref<?x?xi32, strided<[?, ?], offset: ?>> to memref<?x?xi32, strided<[?, ?], offset: ?>>
  %p = memref.subview %t[1, %c1] [1, 2] [1, 1] : memref<?x?xi32, strided<[?, ?], offset: ?>> to memref<2xi32, strided<[?], offset: ?>>
  %base_1, %off_1, %sz_1, %st_1 = memref.extract_strided_metadata %p : memref<2xi32, strided<[?], offset: ?>> -> memref<i32>, index, index, index
  memref.store %off_1, %o[%c3] : memref<9xindex>
  memref.store %sz_1, %o[%c4] : memref<9xindex>
  memref.store %st_1, %o[%c5] : memref<9xindex>
  %n = arith.constant 6 : index
  memref.store %n, %o[%n] : memref<9xindex>
  %n7 = arith.constant 7 : index
  memref.store %n, %o[%n7] : memref<9xindex>
  %n8 = arith.constant 8 : index
  memref.store %n, %o[%n8] : memref<9xindex>
  return
}

// Strides that are sizes.
func.func @open_places(%m: memref<?x4xi32>, %n: index, %o: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d = memref.dim %m, %c0 : memref<?x4xi32>
  mdh.compute (i = %d)
    out_view(m = %m[i, 0] : memref<?x4xi32>)
    md_hom((%a: i32, %b: i32) {
      %s = arith.addi %a, %b : i32
      mdh.yield %s : i32
    }, (cc))
    inp_view(x = %m[i, 1][i, 2] : memref<?x4xi32>)
  %a = memref.alloc(%d, %n) : memref<3x?x?xi32>
  %s = memref.subview %a[1, %n, 0] [1, 2, %n] [1, %n, 1] : memref<3x?x?xi32> to memref<2x?xi32, strided<[?, 1], offset: ?>>
  %base, %off, %sz:2, %st:2 = memref.extract_strided_metadata %s : memref<2x?xi32, strided<[?, 1], offset: ?>> -> memref<i32>, index, index, index, index, index
  memref.store %off, %o[%c0] : memref<4xindex>
  memref.store %sz#1, %o[%c1] : memref<4xindex>
  memref.store %st#0, %o[%c2] : memref<4xindex>
  memref.store %st#1, %o[%c3] : memref<4xindex>
  memref.dealloc %a : memref<3x?x?xi32>
  return
}

// Bytes that nothing but views of one type show.
func.func @arena(%x: memref<4xi32>, %n: index, %o: memref<4xi32>, %q: memref<2x2xi32>) {
  %c16 = arith.constant 16 : index
  %c2 = arith.constant 2 : index
  %m = memref.alloc() : memref<40xi8>
  %v = memref.view %m[%n][] : memref<40xi8> to memref<4xi32>
  %w = memref.view %m[%c16][%c2] : memref<40xi8> to memref<?x2xi32>
  memref.copy %x, %v : memref<4xi32> to memref<4xi32>
  %f = memref.cast %q : memref<2x2xi32> to memref<?x2xi32>
  memref.copy %f, %w : memref<?x2xi32> to memref<?x2xi32>
  memref.copy %v, %o : memref<4xi32> to memref<4xi32>
  memref.dealloc %m : memref<40xi8>
  return
}

// One memory under several shapes.
func.func @reshaped(%x: memref<6xi32>, %o: memref<2x3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %i3 = arith.constant 3 : i32
  %s = memref.alloc() : memref<2xindex>
  memref.store %c2, %s[%c0] : memref<2xindex>
  memref.store %c3, %s[%c1] : memref<2xindex>
  %r = memref.reshape %x(%s) : (memref<6xi32>, memref<2xindex>) -> memref<?x?xi32>
  %q = memref.reshape %x(%s) : (memref<6xi32>, memref<2xindex>) -> memref<2x3xi32>
  memref.store %i3, %r[%c0, %c1] : memref<?x?xi32>
  memref.copy %q, %o : memref<2x3xi32> to memref<2x3xi32>
  return
}

// A tensor's memory, and a tensor of memory, whose memory that is.
func.func @buffers(%x: tensor<5xi32>, %o: memref<5xi32>) -> tensor<5xi32> {
  %m = bufferization.to_buffer %x : tensor<5xi32> to memref<5xi32>
  %a = memref.alloc() : memref<5xi32>
  memref.copy %m, %a : memref<5xi32> to memref<5xi32>
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  memref.store %c7, %a[%c0] : memref<5xi32>
  %t = bufferization.to_tensor %a restrict writable : memref<5xi32> to tensor<5xi32>
  %b = bufferization.to_buffer %t : tensor<5xi32> to memref<5xi32>
  memref.copy %b, %o : memref<5xi32> to memref<5xi32>
  return %t : tensor<5xi32>
}

func.func @switch(%x: tensor<5xi32>, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0] : tensor<5xi32>
  cf.switch %n : i32, [
    default: ^other(%v : i32),
    1: ^one(%v : i32),
    -2: ^one(%n : i32),
    3: ^two(%n, %v : i32, i32)
  ]
^other(%d: i32):
  %c7 = arith.constant 7 : i32
  %u = arith.addi %d, %c7 : i32
  return %u : i32
^one(%a: i32):
  %s = arith.addi %a, %a : i32
  cf.br ^end(%s : i32)
^two(%b: i32, %c: i32):
  %t = arith.muli %b, %c : i32
  cf.br ^end(%t : i32)
^end(%r: i32):
  return %r : i32
}

// A switch without cases.
func.func @only(%n: i32) -> i32 {
  cf.switch %n : i32, [
    default: ^other(%n : i32)
  ]
^other(%d: i32):
  return %d : i32
}

func.func @asserted(%x: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.constant 2.0 : f32
    %ok = arith.cmpf olt, %a, %c : f32
    cf.assert %ok, "too large"
    %z = arith.addf %a, %c : f32
    linalg.yield %z : f32
  } -> tensor<5xf32>
  return %y : tensor<5xf32>
}
