// Nine elements for eight threads, two each, as upstream's tiling writes it: the last ones have empty parts, which start
// behind the end.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy i4 "np.arange(9)"
// RUN: mdh run %s --in %t.x.npy --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy a | FileCheck %s
// RUN: mdh run %s --in %t.x.npy --no-raise --check=all
// CHECK: 0 2 4 6 8 10 12 14 16
// REQUIRES: numpy
#left = affine_map<(d0) -> (d0 * -2 + 9, 2)>
#size = affine_map<(d0) -> (0, d0)>
#start = affine_map<(d0) -> (d0 * 2)>

func.func @twice(%x: tensor<9xi32>) -> tensor<9xi32> {
  %any = tensor.empty() : tensor<9xi32>
  %all = scf.forall (%t) in (8) shared_outs(%so_far = %any) -> (tensor<9xi32>) {
    %left = affine.min #left(%t)
    %size = affine.max #size(%left)
    %i = affine.apply #start(%t)
    %a = tensor.extract_slice %x[%i] [%size] [1] : tensor<9xi32> to tensor<?xi32>
    %to = tensor.extract_slice %so_far[%i] [%size] [1] : tensor<9xi32> to tensor<?xi32>
    %sum = linalg.add ins(%a, %a : tensor<?xi32>, tensor<?xi32>) outs(%to : tensor<?xi32>) -> tensor<?xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %so_far[%i] [%size] [1] : tensor<?xi32> into tensor<9xi32>
    }
  }
  return %all : tensor<9xi32>
}
