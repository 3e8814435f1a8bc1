// Loops carry tensors of dynamic size: that each iteration carries out as many elements as it was
// given follows from where the sizes come from. The elements of x are doubled ten times.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(5)"
// RUN: mdh run %s --check --entry outside --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --entry outside --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --check --entry inside --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --entry inside --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --check --entry given --in %t.x.npy 10 5 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --entry given --in %t.x.npy 10 5 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --check --entry while --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --entry while --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --check --entry nested --in %t.x.npy 5 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// RUN: mdh run %s --entry nested --in %t.x.npy 5 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 1024" | FileCheck %s
// CHECK: 5 float32
// CHECK-NEXT: 0 1 2 3 4

// The size is known before the loop.
func.func @outside(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%old = %x) -> tensor<?xf32> {
    %e = tensor.empty(%d) : tensor<?xf32>
    %next = mdh.compute (i = %d)
      out_view(next = %e[i] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(old = %old[i][i] : tensor<?xf32>)
    scf.yield %next : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// It is asked for in each iteration.
func.func @inside(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%old = %x) -> tensor<?xf32> {
    %d = tensor.dim %old, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %next = mdh.compute (i = %d)
      out_view(next = %e[i] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(old = %old[i][i] : tensor<?xf32>)
    scf.yield %next : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// It is an argument. What is read backwards cannot be written in place.
func.func @given(%x: tensor<?xf32>, %n: index, %d: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%d) : tensor<?xf32>
  %copy = mdh.compute (i = %d)
    out_view(copy = %e[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  %none = tensor.empty(%d) : tensor<?xf32>
  %y:2 = scf.for %t = %c0 to %n step %c1 iter_args(%old = %copy, %any = %none)
      -> (tensor<?xf32>, tensor<?xf32>) {
    %next = mdh.compute (i = %d)
      out_view(next = %any[i] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(old = %old[i][i] : tensor<?xf32>)
    scf.yield %next, %old : tensor<?xf32>, tensor<?xf32>
  }
  return %y#0 : tensor<?xf32>
}

func.func @while(%x: tensor<?xf32>, %n: i32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %y:2 = scf.while (%old = %x, %left = %n) : (tensor<?xf32>, i32) -> (tensor<?xf32>, i32) {
    %more = arith.cmpi sgt, %left, %zero : i32
    scf.condition(%more) %old, %left : tensor<?xf32>, i32
  } do {
  ^bb0(%old: tensor<?xf32>, %left: i32):
    %d = tensor.dim %old, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %next = mdh.compute (i = %d)
      out_view(next = %e[i] : tensor<?xf32>)
      md_hom(addf, (cc))
      inp_view(old = %old[i][i] : tensor<?xf32>)
    %less = arith.subi %left, %one : i32
    scf.yield %next, %less : tensor<?xf32>, i32
  }
  return %y#0 : tensor<?xf32>
}

// Twice in each iteration, whatever is chosen.
func.func @nested(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %z = scf.for %u = %c0 to %c2 step %c1 iter_args(%b = %a) -> tensor<?xf32> {
      %first = arith.cmpi eq, %u, %c0 : index
      %next = scf.if %first -> tensor<?xf32> {
        %e = tensor.empty(%d) : tensor<?xf32>
        %twice = mdh.compute (i = %d)
          out_view(twice = %e[i] : tensor<?xf32>)
          md_hom(addf, (cc))
          inp_view(b = %b[i][i] : tensor<?xf32>)
        scf.yield %twice : tensor<?xf32>
      } else {
        %s = tensor.dim %b, %c0 : tensor<?xf32>
        %e = tensor.empty(%s) : tensor<?xf32>
        %twice = mdh.compute (i = %s)
          out_view(twice = %e[i] : tensor<?xf32>)
          md_hom(addf, (cc))
          inp_view(b = %b[i][i] : tensor<?xf32>)
        scf.yield %twice : tensor<?xf32>
      }
      scf.yield %next : tensor<?xf32>
    }
    scf.yield %z : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
