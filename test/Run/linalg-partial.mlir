// Destinations of which raised computations write a part only: the rest is what the caller gives, as without
// raising, so that both leave the same. One that is written in all of its elements is no input.
//
// RUN: mdh run %s --random 1 --entry spread > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry spread --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix TENSOR
// RUN: mdh run %s --random 1 --entry spread_memory > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry spread_memory --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix MEMORY
// RUN: mdh run %s --random 1 --entry column > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry column --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix TENSOR
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(4)"
// RUN: %python %S/Inputs/npy.py save %t.y.npy f4 "np.arange(9) + 50"
// RUN: mdh run %s --random 1 --entry spread_open --in x=%t.x.npy y=%t.y.npy > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry spread_open --in x=%t.x.npy y=%t.y.npy --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix TENSOR
// RUN: mdh run %s --random 1 --entry inserted > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry inserted --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix TENSOR
// RUN: mdh run %s --random 1 --entry inserted_open --in x=%t.x.npy y=%t.y.npy o=2 > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry inserted_open --in x=%t.x.npy y=%t.y.npy o=2 --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix TENSOR
// RUN: mdh run %s --random 1 --entry in_a_branch --in b=0 > %t.a 2>&1
// RUN: mdh run %s --random 1 --entry in_a_branch --in b=0 --no-raise > %t.b 2>&1
// RUN: cat %t.a %t.b | FileCheck %s --check-prefix MEMORY
//
// REQUIRES: numpy
//
// TENSOR:  in x {{.*}} [[X:[0-9a-f]+]]{{$}}
// TENSOR:  in y {{.*}} [[Y:[0-9a-f]+]]{{$}}
// TENSOR:  out {{.*}} [[OUT:[0-9a-f]+]]{{$}}
// TENSOR:  in x {{.*}} [[X]]{{$}}
// TENSOR:  in y {{.*}} [[Y]]{{$}}
// TENSOR:  out {{.*}} [[OUT]]{{$}}
// MEMORY:  in x {{.*}} [[X:[0-9a-f]+]]{{$}}
// MEMORY:  in y {{.*}} [[Y:[0-9a-f]+]]{{$}}
// MEMORY:  out y {{.*}} [[OUT:[0-9a-f]+]]{{$}}
// MEMORY:  in x {{.*}} [[X]]{{$}}
// MEMORY:  in y {{.*}} [[Y]]{{$}}
// MEMORY:  out y {{.*}} [[OUT]]{{$}}
//
// RUN: mdh run %s --random 1 --entry whole 2>&1 | FileCheck %s --check-prefix WHOLE
// RUN: mdh run %s --random 1 --entry whole_open 2>&1 | FileCheck %s --check-prefix WHOLE
// RUN: mdh run %s --random 1 --entry unfolded 2>&1 | FileCheck %s --check-prefix WHOLE
// RUN: mdh run %s --random 1 --entry whole_memory 2>&1 | FileCheck %s --check-prefix WHOLE
// WHOLE-NOT: in y
// WHOLE:     in x
// WHOLE-NOT: in y
// WHOLE:     out

#all = affine_map<(i) -> (i)>
#twice = affine_map<(i) -> (2 * i)>

func.func @spread(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [#all, #twice], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

func.func @spread_memory(%x: memref<4xf32>, %y: memref<8xf32>) {
  linalg.generic {indexing_maps = [#all, #twice], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

func.func @column(%x: tensor<4xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = linalg.generic {indexing_maps = [#all, affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%y : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

func.func @spread_open(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#all, #twice], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @inserted(%x: tensor<4xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %n = linalg.negf ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %n into %y[1] [4] [2] : tensor<4xf32> into tensor<9xf32>
  return %r : tensor<9xf32>
}

func.func @inserted_open(%x: tensor<?xf32>, %o: index, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.negf ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.insert_slice %z into %y[%o] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}

// What may not be done at all writes nothing for sure.
func.func @in_a_branch(%x: memref<4xf32>, %b: i1, %y: memref<4xf32>) {
  scf.if %b {
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  }
  return
}

func.func @whole(%x: tensor<4x3xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4x3xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}

// Sizes that are known at run time only are asserted to fit.
func.func @whole_open(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.exp ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// As many points as elements, of which no two write one.
func.func @unfolded(%x: tensor<4x3xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (3 * i + j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%y : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<12xf32>
  return %r : tensor<12xf32>
}

func.func @whole_memory(%x: memref<4xf32>, %y: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
