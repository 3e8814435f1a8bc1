// What a C function does with its arguments is what the program as it is written says, as in a run: memory of which
// something stays as it was is changed, not written, and a tensor that a result starts from is read.
//
// RUN: mdh compile %s --emit header 2> /dev/null | FileCheck %s
// CHECK-LABEL: /* every_other
// CHECK-NEXT:   x  read     float[4]
// CHECK-NEXT:   y  changed  float[8]
// CHECK-LABEL: /* all
// CHECK-NEXT:   x  read     float[4]
// CHECK-NEXT:   y  written  float[4]
// CHECK-LABEL: /* tensor
// CHECK-NEXT:   x    read     float[4]
// CHECK-NEXT:   y    read     float[7]
// CHECK-LABEL: /* loaded_before
// CHECK-NEXT:   x      read     float[4]
// CHECK-NEXT:   y      changed  float[4]
// CHECK-LABEL: /* loaded_after
// CHECK-NEXT:   x     read     float[4]
// CHECK-NEXT:   y     written  float[4]
//
// RUN: mdh compile %s --emit shared -o %t.so 2> /dev/null
// RUN: %python -c "import ctypes, numpy as np; f = ctypes.CDLL('%t.so').every_other; x, y = np.full(4, 2, 'f4'), np.arange(8, dtype='f4'); f(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)); print(*y)" | FileCheck %s --check-prefix CALLED
// CALLED: 2.0 1.0 2.0 3.0 2.0 5.0 2.0 7.0
// REQUIRES: numpy

#all = affine_map<(i) -> (i)>
#twice = affine_map<(i) -> (i * 2)>

func.func @every_other(%x: memref<4xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#all, #twice], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

func.func @all(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

func.func @tensor(%x: tensor<4xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#all, #twice], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%y : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

func.func @loaded_before(%x: memref<4xf32>, %y: memref<4xf32>, %first: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %y[%c0] : memref<4xf32>
  memref.store %a, %first[%c0] : memref<1xf32>
  linalg.copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

func.func @loaded_after(%x: memref<4xf32>, %y: memref<4xf32>, %last: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  linalg.copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  %a = memref.load %y[%c0] : memref<4xf32>
  memref.store %a, %last[%c0] : memref<1xf32>
  return
}
