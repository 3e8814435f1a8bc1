// Memory of the host that does not lie row by row: kernels use copies that do, and what they leave stays as it was.
//
// RUN: mdh run %s --entry called --in o=3 --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry partly --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry column --in j=2 --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry columns --in i=4 --in j=2 --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry rows --in i=2 --in j=5 --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry scalar --in i=1 --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry chain --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry bits --in j=3 --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %s --entry parallel --in j=3 --device sim --random 1 --check=all --report | FileCheck %s
// CHECK: no mistakes found
// CHECK: check  passed
//
// RUN: %interpreted mdh run %s --entry called --in o=3 --device cuda --random 1 --check=all | FileCheck %s --check-prefix CUDA
// RUN: %interpreted mdh run %s --entry partly --device cuda --random 1 --check=all | FileCheck %s --check-prefix CUDA
// RUN: %interpreted mdh run %s --entry columns --in i=4 --in j=2 --device cuda --random 1 --check=all | FileCheck %s --check-prefix CUDA
// RUN: %interpreted mdh run %s --entry rows --in i=2 --in j=5 --device cuda --random 1 --check=all | FileCheck %s --check-prefix CUDA
// RUN: %interpreted mdh run %s --entry parallel --in j=3 --device cuda --random 1 --check=all | FileCheck %s --check-prefix CUDA
// CUDA: check  passed
//
// A package has the host's copies, too.
// RUN: mdh compile %s --entry slices --device cuda -o %t.mdhpkg
// RUN: %interpreted mdh-exec %t.mdhpkg | FileCheck %s --check-prefix CUDA
//
// Tiled in linalg by upstream, with a rest: tiles of memory, and those of tensors.
// RUN: mdh-opt %s --transform-interpreter --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s --check-prefix TILED --input-file %t.mlir
// RUN: mdh run %t.mlir --entry matmul --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh run %t.mlir --entry tensors --device sim --random 1 --check=all --report | FileCheck %s
// RUN: mdh compile %t.mlir --entry matmul --device cuda --emit ptx | FileCheck %s --check-prefix PTX
// RUN: mdh compile %t.mlir --entry tensors --device cuda --emit ptx | FileCheck %s --check-prefix PTX
// TILED-LABEL: func.func @matmul(
// TILED:       memref.subview %{{.*}} : memref<50x50xf32> to memref<?x?xf32, strided<[50, 1], offset: ?>>
// PTX: .visible .entry

!any = !transform.any_op
module attributes {transform.with_named_sequence} {
func.func private @some(%x: memref<?xf32, strided<[?], offset: ?>>, %y: memref<?xf32, strided<[?], offset: ?>>, %o: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf32, strided<[?], offset: ?>>
  %left = arith.subi %n, %o : index
  %m = arith.ceildivui %left, %c2 : index
  %a = memref.subview %x[%o] [%m] [2] : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  %b = memref.subview %y[%o] [%m] [2] : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  linalg.exp ins(%a : memref<?xf32, strided<[?], offset: ?>>) outs(%b : memref<?xf32, strided<[?], offset: ?>>)
  return
}

func.func @called(%x: memref<40xf32>, %y: memref<40xf32>, %o: index) {
  %a = memref.subview %x[%o] [12] [3] : memref<40xf32> to memref<12xf32, strided<[3], offset: ?>>
  %b = memref.subview %y[1] [12] [2] : memref<40xf32> to memref<12xf32, strided<[2], offset: 1>>
  %c = memref.cast %a : memref<12xf32, strided<[3], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  %d = memref.cast %b : memref<12xf32, strided<[2], offset: 1>> to memref<?xf32, strided<[?], offset: ?>>
  call @some(%c, %d, %o) : (memref<?xf32, strided<[?], offset: ?>>, memref<?xf32, strided<[?], offset: ?>>, index) -> ()
  return
}

// What is not written keeps what it was.
func.func @partly(%x: memref<7xf32, strided<[3], offset: 2>>, %y: memref<?xf32, strided<[?], offset: ?>>) {
  mdh.compute (i = 5)
    out_view(y = %y[2 * i] : memref<?xf32, strided<[?], offset: ?>>)
    md_hom(id, (cc))
    inp_view(x = %x[i + 1] : memref<7xf32, strided<[3], offset: 2>>)
  return
}

// Sums are added to a column.
func.func @column(%x: memref<5x7xf32>, %y: memref<5x6xf32>, %j: index) {
  %c = memref.subview %y[0, %j] [5, 1] [1, 1] : memref<5x6xf32> to memref<5xf32, strided<[6], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<5x7xf32>) outs(%c : memref<5xf32, strided<[6], offset: ?>>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }
  return
}

// One column is made of another one of the same memory, one of whose elements stays.
func.func @columns(%x: memref<9x6xf32>, %i: index, %j: index) {
  %a = memref.subview %x[0, %i] [9, 1] [1, 1] : memref<9x6xf32> to memref<9xf32, strided<[6], offset: ?>>
  %b = memref.subview %x[0, %j] [9, 1] [1, 1] : memref<9x6xf32> to memref<9xf32, strided<[6], offset: ?>>
  mdh.compute (i = 8)
    out_view(b = %b[i] : memref<9xf32, strided<[6], offset: ?>>)
    md_hom(addf, (cc))
    inp_view(a = %a[i][8 - i] : memref<9xf32, strided<[6], offset: ?>>)
  return
}

// Rows lie row by row, and start anywhere.
func.func @rows(%x: memref<9x6xf32>, %i: index, %j: index) {
  %a = memref.subview %x[%i, 0] [2, 6] [1, 1] : memref<9x6xf32> to memref<2x6xf32, strided<[6, 1], offset: ?>>
  %b = memref.subview %x[%j, 0] [2, 6] [1, 1] : memref<9x6xf32> to memref<2x6xf32, strided<[6, 1], offset: ?>>
  mdh.compute (i = 2, j = 5)
    out_view(b = %b[i, j] : memref<2x6xf32, strided<[6, 1], offset: ?>>)
    md_hom(addf, (cc, cc))
    inp_view(a = %a[i, j][i, j + 1] : memref<2x6xf32, strided<[6, 1], offset: ?>>)
  return
}

func.func @scalar(%x: memref<9xf32>, %y: memref<4x4xf32>, %i: index) {
  %a = memref.subview %y[%i, 2] [1, 1] [1, 1] : memref<4x4xf32> to memref<f32, strided<[], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<9xf32>) outs(%a : memref<f32, strided<[], offset: ?>>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  }
  return
}

// Computations that follow each other share what they have.
func.func @chain(%x: memref<4x5xi32, strided<[1, 4]>>, %y: memref<4x5xi32, strided<[12, 2], offset: 1>>, %z: memref<4x5xi32, strided<[?, ?]>>) {
  mdh.compute (i = 4, j = 5)
    out_view(y = %y[i, j] : memref<4x5xi32, strided<[12, 2], offset: 1>>)
    md_hom(addi, (cc, cc))
    inp_view(x = %x[i, j][3 - i, j] : memref<4x5xi32, strided<[1, 4]>>)
  mdh.compute (i = 4, j = 4)
    out_view(z = %z[i, j] : memref<4x5xi32, strided<[?, ?]>>)
    md_hom(addi, (cc, ps(addi)))
    inp_view(x = %x[i, j] : memref<4x5xi32, strided<[1, 4]>>, y = %y[i, j] : memref<4x5xi32, strided<[12, 2], offset: 1>>)
  return
}

func.func @bits(%x: memref<9x6xi1>, %y: memref<9x6xi1>, %j: index) {
  %a = memref.subview %x[0, 1] [9, 2] [1, 2] : memref<9x6xi1> to memref<9x2xi1, strided<[6, 2], offset: 1>>
  %b = memref.subview %y[0, %j] [9, 2] [1, 1] : memref<9x6xi1> to memref<9x2xi1, strided<[6, 1], offset: ?>>
  mdh.compute (i = 9, j = 2)
    out_view(b = %b[i, j] : memref<9x2xi1, strided<[6, 1], offset: ?>>)
    md_hom(id, (cc, cc))
    inp_view(a = %a[i, j] : memref<9x2xi1, strided<[6, 2], offset: 1>>)
  return
}

// A parallel loop of the host that launches kernels runs one iteration after the other: each copies all of a column.
func.func @parallel(%x: memref<16xi32>, %y: memref<16x6xi32>, %j: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %b = memref.subview %y[0, %j] [16, 1] [1, 1] : memref<16x6xi32> to memref<16xi32, strided<[6], offset: ?>>
  scf.parallel (%p) = (%c0) to (%c16) step (%c1) {
    %q = arith.addi %p, %c1 : index
    mdh.compute (i = %p to %q)
      out_view(y = %b[i] : memref<16xi32, strided<[6], offset: ?>>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<16xi32>)
    scf.reduce
  }
  return
}

func.func @slices(%x: tensor<12x7xf32>, %y: tensor<12x7xf32>) -> tensor<12x7xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %t = scf.for %j = %c1 to %c7 step %c2 iter_args(%z = %y) -> tensor<12x7xf32> {
    %a = tensor.extract_slice %x[0, %j] [12, 2] [1, 1] : tensor<12x7xf32> to tensor<12x2xf32>
    %b = tensor.extract_slice %z[0, %j] [12, 2] [1, 1] : tensor<12x7xf32> to tensor<12x2xf32>
    %c = linalg.exp ins(%a : tensor<12x2xf32>) outs(%b : tensor<12x2xf32>) -> tensor<12x2xf32>
    %r = tensor.insert_slice %c into %z[0, %j] [12, 2] [1, 1] : tensor<12x2xf32> into tensor<12x7xf32>
    scf.yield %r : tensor<12x7xf32>
  }
  return %t : tensor<12x7xf32>
}

func.func @matmul(%a: memref<50x50xf32>, %b: memref<50x50xf32>, %c: memref<50x50xf32>) {
  linalg.matmul ins(%a, %b : memref<50x50xf32>, memref<50x50xf32>) outs(%c : memref<50x50xf32>)
  return
}

func.func @tensors(%a: tensor<50x50xf32>, %b: tensor<50x50xf32>, %c: tensor<50x50xf32>) -> tensor<50x50xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<50x50xf32>, tensor<50x50xf32>) outs(%c : tensor<50x50xf32>) -> tensor<50x50xf32>
  return %d : tensor<50x50xf32>
}

transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
  %all = transform.structured.match ops{["linalg.matmul"]} in %root : (!any) -> !any
  %t, %l:3 = transform.structured.tile_using_for %all tile_sizes [32, 32, 32] : (!any) -> (!any, !any, !any, !any)
  transform.yield
}
}
