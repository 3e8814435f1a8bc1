// What region operations give has a shape that is known before the run: of scf.forall that of its shared tensor,
// of scf.for what each iteration keeps, of scf.if what both branches agree in.
//
// RUN: %python %S/Inputs/npy.py save %t.m.npy f4 "np.arange(35).reshape(7, 5)"
// RUN: %python %S/Inputs/npy.py save %t.v.npy f4 "np.arange(6)"
// RUN: mdh run %s --entry forall --in %t.m.npy 2 | FileCheck %s --check-prefix FORALL
// RUN: mdh run %s --entry forall --in %t.m.npy 2 --check | FileCheck %s --check-prefixes FORALL,CHECK
// RUN: mdh run %s --entry loop --in %t.v.npy 3 | FileCheck %s --check-prefix VECTOR
// RUN: mdh run %s --entry loop --in %t.v.npy 3 --check | FileCheck %s --check-prefixes VECTOR,CHECK
// RUN: mdh run %s --entry branch --in %t.v.npy 1 | FileCheck %s --check-prefix VECTOR
// RUN: mdh run %s --entry branch --in %t.v.npy 0 --check | FileCheck %s --check-prefixes VECTOR,CHECK
// RUN: mdh run %s --entry region --in %t.v.npy | FileCheck %s --check-prefix VECTOR
// RUN: mdh run %s --entry region --in %t.v.npy --check | FileCheck %s --check-prefixes VECTOR,CHECK
// FORALL: out {{ *}}result {{ *}}5x7xf32
// VECTOR: out {{ *}}result {{ *}}6xf32
//
// The same of what upstream's tiling makes.
// RUN: %python %S/Inputs/npy.py save %t.a.npy f4 "np.arange(35).reshape(7, 5)"
// RUN: %python %S/Inputs/npy.py save %t.b.npy f4 "np.arange(45).reshape(5, 9)"
// RUN: %python %S/Inputs/npy.py save %t.c.npy f4 "np.zeros((7, 9))"
// RUN: mlir-opt %S/Inputs/tiled-matmul.mlir --transform-interpreter -o %t.tiled.mlir
// RUN: mdh run %t.tiled.mlir --in %t.a.npy %t.b.npy %t.c.npy | FileCheck %s --check-prefix TILED
// RUN: mdh run %t.tiled.mlir --in %t.a.npy %t.b.npy %t.c.npy --check | FileCheck %s --check-prefixes TILED,CHECK
// RUN: mdh compile %t.tiled.mlir --emit header --entry tiled | FileCheck %s --check-prefix HEADER
// TILED: out {{ *}}result {{ *}}7x9xf32
// CHECK: check {{ *}}passed
// HEADER: result_n0 = arg2_n0; result_n1 = arg2_n1

func.func @forall(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %cols = tensor.dim %x, %c1 : tensor<?x?xf32>
  %half = arith.ceildivsi %rows, %n : index
  %e = tensor.empty(%cols, %rows) : tensor<?x?xf32>
  %y = scf.forall (%t) in (%n) shared_outs(%o = %e) -> (tensor<?x?xf32>) {
    %from = arith.muli %t, %half : index
    %left = arith.subi %rows, %from : index
    %size = arith.minsi %left, %half : index
    %s = tensor.extract_slice %x[%from, 0] [%size, %cols] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %d = tensor.extract_slice %o[0, %from] [%cols, %size] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %r = linalg.transpose ins(%s : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>) permutation = [1, 0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[0, %from] [%cols, %size] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
    }
  }
  return %y : tensor<?x?xf32>
}
func.func @branch(%x: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = scf.if %c -> tensor<?xf32> {
    %e = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  } else {
    %m = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%m) : tensor<?xf32>
    %r = linalg.abs ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
func.func @region(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = scf.execute_region -> tensor<?xf32> {
    %e = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
// Its first two elements are doubled k times.
func.func @loop(%x: tensor<?xf32>, %k: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %t = %c0 to %k step %c1 iter_args(%o = %x) -> tensor<?xf32> {
    %r = scf.forall (%p) in (2) shared_outs(%q = %o) -> (tensor<?xf32>) {
      %s = tensor.extract_slice %q[%p] [1] [1] : tensor<?xf32> to tensor<1xf32>
      %d = linalg.add ins(%s, %s : tensor<1xf32>, tensor<1xf32>) outs(%s : tensor<1xf32>) -> tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %d into %q[%p] [1] [1] : tensor<1xf32> into tensor<?xf32>
      }
    }
    scf.yield %r : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
