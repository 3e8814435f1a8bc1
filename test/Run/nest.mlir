// Computations inside loops and branches: of sizes that the arguments have, and of results whose
// shape is that of an argument.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(1, 6)"
// RUN: %python %S/Inputs/npy.py save %t.y.npy f4 "np.zeros(5)"
// RUN: mdh run %s --entry for --in %t.x.npy %t.y.npy 3 --out %t.for.npy
// RUN: %python %S/Inputs/npy.py show %t.for.npy "a" | FileCheck %s --check-prefix FOR
// RUN: mdh run %s --entry if --in %t.x.npy %t.y.npy 1 --out %t.if.npy
// RUN: %python %S/Inputs/npy.py show %t.if.npy "a" | FileCheck %s --check-prefix THEN
// RUN: mdh run %s --entry if --in %t.x.npy %t.y.npy 0 --out %t.if.npy
// RUN: %python %S/Inputs/npy.py show %t.if.npy "a" | FileCheck %s --check-prefix ELSE
// RUN: mdh run %s --entry while --in %t.x.npy %t.y.npy 20 --out %t.while.npy
// RUN: %python %S/Inputs/npy.py show %t.while.npy "a" | FileCheck %s --check-prefix WHILE
// RUN: mdh run %s --entry for --random 1 --size k=7 | FileCheck %s --check-prefix SIZES
// RUN: mdh run %s --entry triple --in %t.x.npy %t.y.npy 2 --out %t.triple.npy
// RUN: %python %S/Inputs/npy.py show %t.triple.npy "a" | FileCheck %s --check-prefix TRIPLE
// RUN: not mdh run %s --entry short --in %t.x.npy %t.y.npy 1 2>&1 | FileCheck %s --check-prefix SHORT

// FOR: 5 float32
// FOR-NEXT: 3 6 9 12 15
// THEN: 2 4 6 8 10
// ELSE: 0 0 0 0 0
// WHILE: 20 40 60 80 100
// SIZES: in {{ *}}x {{ *}}7xf32
// SIZES: in {{ *}}y {{ *}}7xf32
// SIZES: out {{ *}}result {{ *}}7xf32
// TRIPLE: 2 4 6 8 10
// SHORT: mdh.compute reads input 'x' outside of its extent in axis 0 ('k + 1')

func.func @for(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %y) -> (tensor<?xf32>) {
    %m = tensor.dim %a, %c0 : tensor<?xf32>
    %r = mdh.compute (k = %m)
      out_view(r = %a[k] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[k] : tensor<?xf32>, a = %a[k] : tensor<?xf32>)
    scf.yield %r : tensor<?xf32>
  }
  return %l : tensor<?xf32>
}

func.func @if(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.if %c -> (tensor<?xf32>) {
    %m = tensor.dim %x, %c0 : tensor<?xf32>
    %s = mdh.compute (k = %m)
      out_view(r = %y[k] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[k] : tensor<?xf32>, again = %x[k] : tensor<?xf32>)
    scf.yield %s : tensor<?xf32>
  } else {
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

func.func @while(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l:2 = scf.while (%t = %c0, %a = %y) : (index, tensor<?xf32>) -> (index, tensor<?xf32>) {
    %more = arith.cmpi slt, %t, %n : index
    scf.condition(%more) %t, %a : index, tensor<?xf32>
  } do {
  ^bb0(%t: index, %a: tensor<?xf32>):
    %m = tensor.dim %a, %c0 : tensor<?xf32>
    %r = mdh.compute (k = %m)
      out_view(r = %a[k] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[k] : tensor<?xf32>, a = %a[k] : tensor<?xf32>)
    %next = arith.addi %t, %c1 : index
    scf.yield %next, %r : index, tensor<?xf32>
  }
  return %l#1 : tensor<?xf32>
}

func.func @triple(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %y) -> (tensor<?xf32>) {
    %points = mdh.inp_view (k = %m) (%x[k] : tensor<?xf32>, %a[k] : tensor<?xf32>)
            : !mdh.mda<?, f32, f32>
    %sums = mdh.hom(addf, (cc)) %points : !mdh.mda<?, f32, f32> -> !mdh.mda<?, f32>
    %r = mdh.out_view (k) %sums -> (r = %a[k] : tensor<?xf32>) : !mdh.mda<?, f32>
    scf.yield %r : tensor<?xf32>
  }
  return %l : tensor<?xf32>
}

func.func @short(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %y) -> (tensor<?xf32>) {
    %m = tensor.dim %a, %c0 : tensor<?xf32>
    %r = mdh.compute (k = %m)
      out_view(r = %a[k] : tensor<?xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[k + 1] : tensor<?xf32>)
    scf.yield %r : tensor<?xf32>
  }
  return %l : tensor<?xf32>
}
