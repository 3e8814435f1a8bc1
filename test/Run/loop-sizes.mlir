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
// RUN: mdh run %s --check --entry asserted --in x=%t.x.npy s=5 n=3 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s
// RUN: mdh run %s --check --entry exchanged --in x=%t.x.npy s=5 n=1 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a / 2" | FileCheck %s
// RUN: not mdh run %s --entry asserted --in x=%t.x.npy s=4 n=3 2>&1 | FileCheck %s --check-prefix OTHER
// OTHER: a loop carries out a tensor that has another size in axis 0 than the one whose place it takes in the next iteration: expected the same size
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

// Only when it runs it is seen that both are of one size.
func.func @asserted(%x: tensor<5xf32>, %s: index, %n: index) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = tensor.cast %x : tensor<5xf32> to tensor<?xf32>
  %part = tensor.extract_slice %x[0] [%s] [1] : tensor<5xf32> to tensor<?xf32>
  %l:2 = scf.for %t = %c0 to %n step %c1 iter_args(%a = %part, %b = %all) -> (tensor<?xf32>, tensor<?xf32>) {
    scf.yield %b, %b : tensor<?xf32>, tensor<?xf32>
  }
  %r = tensor.cast %l#0 : tensor<?xf32> to tensor<5xf32>
  return %r : tensor<5xf32>
}

// The second region does not see what the first one has.
func.func @exchanged(%x: tensor<5xf32>, %s: index, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = tensor.cast %x : tensor<5xf32> to tensor<?xf32>
  %part = tensor.extract_slice %x[0] [%s] [1] : tensor<5xf32> to tensor<?xf32>
  %l:3 = scf.while (%t = %c0, %a = %part, %b = %all) : (index, tensor<?xf32>, tensor<?xf32>) -> (index, tensor<?xf32>, tensor<?xf32>) {
    %more = arith.cmpi slt, %t, %n : index
    scf.condition(%more) %t, %a, %b : index, tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%t: index, %a: tensor<?xf32>, %b: tensor<?xf32>):
    %u = arith.addi %t, %c1 : index
    %sum = arith.addf %a, %a : tensor<?xf32>
    scf.yield %u, %b, %sum : index, tensor<?xf32>, tensor<?xf32>
  }
  return %l#2 : tensor<?xf32>
}
