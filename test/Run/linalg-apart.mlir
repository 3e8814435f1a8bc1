// Parts of one memref that have no element in common are as good as memory of their own: a sum of some into
// others may be of any order, also for the check, and also where a function is called with them.
//
// RUN: mdh run %s --entry sums --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry product --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry called --random 1 --check=all 2>&1 | FileCheck %s
// CHECK: note: 1 operation of linalg raised
// CHECK: check  passed
//
// Those that have some are loops, in their order.
// RUN: mdh run %s --entry shared --random 1 --check=all 2>&1 | FileCheck %s --check-prefix SHARED
// SHARED: stays as it is
// SHARED: check  passed: 128 of 128 elements compared, no difference
//
// How a number compares with itself does not depend on how it was rounded.
// RUN: mdh run %s --entry itself --random 956 --check=all 2>&1 | FileCheck %s --check-prefix ITSELF
// ITSELF: check  passed

func.func @sums(%x: memref<16x64xf32>) {
  %a = memref.subview %x[0, 0] [8, 64] [1, 1] : memref<16x64xf32> to memref<8x64xf32, strided<[64, 1]>>
  %c = memref.subview %x[8, 0] [8, 1] [1, 1] : memref<16x64xf32> to memref<8xf32, strided<[64], offset: 512>>
  linalg.reduce { arith.addf } ins(%a : memref<8x64xf32, strided<[64, 1]>>) outs(%c : memref<8xf32, strided<[64], offset: 512>>) dimensions = [1]
  return
}

func.func @product(%x: memref<2x8x8xf32>) {
  %a = memref.subview %x[0, 0, 0] [1, 8, 8] [1, 1, 1] : memref<2x8x8xf32> to memref<8x8xf32, strided<[8, 1]>>
  %c = memref.subview %x[1, 0, 0] [1, 8, 8] [1, 1, 1] : memref<2x8x8xf32> to memref<8x8xf32, strided<[8, 1], offset: 64>>
  linalg.matmul ins(%a, %a : memref<8x8xf32, strided<[8, 1]>>, memref<8x8xf32, strided<[8, 1]>>) outs(%c : memref<8x8xf32, strided<[8, 1], offset: 64>>)
  return
}

func.func private @square(%a: memref<8x8xf32, strided<[16, 1]>>, %c: memref<8x8xf32, strided<[16, 1], offset: 136>>) {
  linalg.matmul ins(%a, %a : memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1]>>) outs(%c : memref<8x8xf32, strided<[16, 1], offset: 136>>)
  return
}

func.func @called(%x: memref<16x16xf32>) {
  %a = memref.subview %x[0, 0] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1]>>
  %c = memref.subview %x[8, 8] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: 136>>
  call @square(%a, %c) : (memref<8x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1], offset: 136>>) -> ()
  return
}

func.func @shared(%x: memref<2x8x8xf32>) {
  %a = memref.subview %x[0, 0, 0] [1, 8, 8] [1, 1, 1] : memref<2x8x8xf32> to memref<8x8xf32, strided<[8, 1]>>
  %c = memref.subview %x[0, 7, 0] [1, 1, 8] [1, 1, 1] : memref<2x8x8xf32> to memref<8xf32, strided<[1], offset: 56>>
  linalg.reduce { arith.addf } ins(%a : memref<8x8xf32, strided<[8, 1]>>) outs(%c : memref<8xf32, strided<[1], offset: 56>>) dimensions = [0]
  return
}

func.func @itself(%v1: memref<1xf64>, %v2: memref<1xf64>, %v3: memref<f64>) {
  linalg.contract indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>] ins(%v1, %v2 : memref<1xf64>, memref<1xf64>) outs(%v3 : memref<f64>)
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%v3 : memref<f64>) outs(%v3, %v3 : memref<f64>, memref<f64>) {
  ^bb0(%a0: f64, %o0: f64, %o1: f64):
    %less = arith.cmpf olt, %a0, %a0 : f64
    %sum = scf.if %less -> f64 {
      %s = arith.addf %o0, %a0 : f64
      scf.yield %s : f64
    } else {
      scf.yield %o0 : f64
    }
    linalg.yield %sum, %sum : f64, f64
  }
  return
}
