// A size that is known when the program runs is checked then: one element beyond the end is an error, the last one is
// read.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(5)"
// RUN: %python %S/Inputs/npy.py save %t.y.npy f4 "np.zeros(6)"
// RUN: %python %S/Inputs/npy.py save %t.5.npy i8 "np.array(5)"
// RUN: %python %S/Inputs/npy.py save %t.6.npy i8 "np.array(6)"
// RUN: mdh run %s --in x=%t.x.npy y=%t.y.npy s=%t.5.npy --check | FileCheck %s --check-prefix LAST
// RUN: not mdh run %s --in x=%t.x.npy y=%t.y.npy s=%t.6.npy 2>&1 | FileCheck %s --check-prefix BEYOND
// LAST: check  passed: 6 of 6
// BEYOND: error: mdh.compute reads input 'x' outside of its extent in axis 0 ('i'): enlarge the buffer, shrink the domain
// REQUIRES: numpy

func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>, %s: tensor<i64>) -> tensor<?xf32> {
  %m = tensor.extract %s[] : tensor<i64>
  %n = arith.index_cast %m : i64 to index
  %r = mdh.compute (i = %n)
    out_view(r = %y[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %r : tensor<?xf32>
}
