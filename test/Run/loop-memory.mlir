// Loops and branches whose tensors need memory of their own.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy i8 "np.array([1, 2, 3, 4, 5])"
// RUN: %python %S/Inputs/npy.py save %t.z.npy i8 "np.array([10, 20, 30, 40, 50])"
//
// RUN: mdh run %s --check --entry swapped_inside --in %t.x.npy %t.z.npy 2 --out %t.a.npy %t.b.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix SWAPPED
// RUN: %python %S/Inputs/npy.py show %t.b.npy "a" | FileCheck %s --check-prefix SWAPPED-TOO
// SWAPPED: 5 int64
// SWAPPED-NEXT: 7 8 9 10 11
// SWAPPED-TOO: 5 int64
// SWAPPED-TOO-NEXT: 6 7 8 9 10
//
// RUN: mdh run %s --check --entry swapped_in_while --in %t.x.npy %t.z.npy 3 --out %t.a.npy %t.b.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix WHILE
// WHILE: 5 int64
// WHILE-NEXT: 10 11 12 13 14
//
// RUN: mdh run %s --check --entry filled_after --in %t.x.npy %t.z.npy --out %t.a.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix FILLED
// FILLED: 5 int64
// FILLED-NEXT: 11 12 13 14 15
//
// RUN: mdh run %s --check --entry from_outer --in %t.x.npy --out %t.a.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix OUTER
// OUTER: 5 int64
// OUTER-NEXT: 1 11 48 112 176
//
// RUN: mdh run %s --check --entry branch --in x=%t.x.npy z=%t.z.npy c=1 --out %t.a.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix THEN
// THEN: 5 int64
// THEN-NEXT: 10 5 6 7 50
//
// RUN: mdh run %s --check --entry branch --in x=%t.x.npy z=%t.z.npy c=0 --out %t.a.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix ELSE
// ELSE: 5 int64
// ELSE-NEXT: 1 2 3 4 5
//
// RUN: mdh run %s --check --entry taken --in %t.x.npy 1 3 --out %t.a.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix TAKEN
// TAKEN: 5 int64
// TAKEN-NEXT: 4 5 6 7 8
//
// RUN: mdh run %s --check --entry moved --in %t.x.npy %t.z.npy 3 --out %t.a.npy %t.b.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix MOVED
// RUN: %python %S/Inputs/npy.py show %t.b.npy "a" | FileCheck %s --check-prefix MOVED-TOO
// MOVED: 5 int64
// MOVED-NEXT: 3 4 5 6 7
// MOVED-TOO: 5 int64
// MOVED-TOO-NEXT: 11 21 31 41 51
//
// The condition carries out the first tensor, an iteration both.
// RUN: mdh run %s --check --entry first_only --in %t.x.npy %t.z.npy 1 --out %t.a.npy
// RUN: %python %S/Inputs/npy.py show %t.a.npy "a" | FileCheck %s --check-prefix FIRST-ONLY
// FIRST-ONLY: 66 66 66 66 66
//
// RUN: mdh compile %s --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS

// An odd number of steps: the inner loop leaves its tensors in each other's memory.
func.func @swapped_inside(%x: tensor<5xi64>, %z: tensor<5xi64>, %n: index) -> (tensor<5xi64>, tensor<5xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %r:2 = scf.for %s = %c0 to %n step %c1 iter_args(%a = %x, %b = %z) -> (tensor<5xi64>, tensor<5xi64>) {
    %q:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%old = %a, %new = %b) -> (tensor<5xi64>, tensor<5xi64>) {
      %next = mdh.compute (i = 5)
        out_view(next = %new[i] : tensor<5xi64>)
        md_hom(addi, (cc))
        inp_view(old = %old[i] : tensor<5xi64>, one = %one[] : i64)
      scf.yield %next, %old : tensor<5xi64>, tensor<5xi64>
    }
    scf.yield %q#0, %q#1 : tensor<5xi64>, tensor<5xi64>
  }
  return %r#0, %r#1 : tensor<5xi64>, tensor<5xi64>
}

func.func @swapped_in_while(%x: tensor<5xi64>, %z: tensor<5xi64>, %n: index) -> (tensor<5xi64>, tensor<5xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %r:3 = scf.while (%s = %c0, %a = %x, %b = %z) : (index, tensor<5xi64>, tensor<5xi64>) -> (index, tensor<5xi64>, tensor<5xi64>) {
    %more = arith.cmpi slt, %s, %n : index
    scf.condition(%more) %s, %a, %b : index, tensor<5xi64>, tensor<5xi64>
  } do {
  ^bb0(%s: index, %a: tensor<5xi64>, %b: tensor<5xi64>):
    %q:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%old = %a, %new = %b) -> (tensor<5xi64>, tensor<5xi64>) {
      %next = mdh.compute (i = 5)
        out_view(next = %new[i] : tensor<5xi64>)
        md_hom(addi, (cc))
        inp_view(old = %old[i] : tensor<5xi64>, one = %one[] : i64)
      scf.yield %next, %old : tensor<5xi64>, tensor<5xi64>
    }
    %u = arith.addi %s, %c1 : index
    scf.yield %u, %q#0, %q#1 : index, tensor<5xi64>, tensor<5xi64>
  }
  return %r#1, %r#2 : tensor<5xi64>, tensor<5xi64>
}

// What the loop starts with is overwritten without being read, while what the loop left is needed.
func.func @filled_after(%x: tensor<5xi64>, %z: tensor<5xi64>) -> tensor<5xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %seven = arith.constant 7 : i64
  %e = tensor.empty() : tensor<5xi64>
  %a = mdh.compute (i = 5)
    out_view(a = %e[i] : tensor<5xi64>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<5xi64>)
  %f = tensor.empty() : tensor<5xi64>
  %b = mdh.compute (i = 5)
    out_view(b = %f[i] : tensor<5xi64>)
    md_hom(id, (cc))
    inp_view(z = %z[i] : tensor<5xi64>)
  %q:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%old = %a, %new = %b) -> (tensor<5xi64>, tensor<5xi64>) {
    %next = mdh.compute (i = 5)
      out_view(next = %new[i] : tensor<5xi64>)
      md_hom(addi, (cc))
      inp_view(old = %old[i] : tensor<5xi64>, one = %one[] : i64)
    scf.yield %next, %old : tensor<5xi64>, tensor<5xi64>
  }
  %sevens = linalg.fill ins(%seven : i64) outs(%b : tensor<5xi64>) -> tensor<5xi64>
  %g = tensor.empty() : tensor<5xi64>
  %sum = mdh.compute (i = 5)
    out_view(sum = %g[i] : tensor<5xi64>)
    md_hom(addi, (cc))
    inp_view(q = %q#0[i] : tensor<5xi64>, seven = %sevens[i] : tensor<5xi64>)
  return %sum : tensor<5xi64>
}

// The inner loop starts from what the outer one carries, and reads both.
func.func @from_outer(%x: tensor<5xi64>) -> tensor<5xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<5xi64>) {
    %q = scf.for %s = %c0 to %c3 step %c1 iter_args(%b = %a) -> (tensor<5xi64>) {
      %next = mdh.compute (i = 1 to 5)
        out_view(next = %b[i] : tensor<5xi64>)
        md_hom(addi, (cc))
        inp_view(a = %a[i - 1] : tensor<5xi64>, b = %b[i] : tensor<5xi64>)
      scf.yield %next : tensor<5xi64>
    }
    scf.yield %q : tensor<5xi64>
  }
  return %r : tensor<5xi64>
}

// A branch computes into a tensor from outside of the loop.
// LOOPS-LABEL: func.func @branch(
// LOOPS: scf.for
// LOOPS-NOT: memref.alloc
// LOOPS: return
func.func @branch(%x: tensor<5xi64>, %z: tensor<5xi64>, %c: i1) -> tensor<5xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %r = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<5xi64>) {
    %i = scf.if %c -> (tensor<5xi64>) {
      %v = mdh.compute (i = 1 to 4)
        out_view(v = %z[i] : tensor<5xi64>)
        md_hom(addi, (cc))
        inp_view(a = %a[i] : tensor<5xi64>, one = %one[] : i64)
      scf.yield %v : tensor<5xi64>
    } else {
      scf.yield %a : tensor<5xi64>
    }
    scf.yield %i : tensor<5xi64>
  }
  return %r : tensor<5xi64>
}

// What a branch takes in each step is taken once, and freed.
// LOOPS-LABEL: func.func @taken(
// LOOPS: scf.for
// LOOPS-NOT: memref.alloc
// LOOPS: return
func.func @taken(%x: tensor<?xi64>, %c: i1, %n: index) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %size = tensor.dim %x, %c0 : tensor<?xi64>
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xi64>) {
    %i = scf.if %c -> (tensor<?xi64>) {
      %e = tensor.empty(%size) : tensor<?xi64>
      %v = mdh.compute (i = %size)
        out_view(v = %e[i] : tensor<?xi64>)
        md_hom(addi, (cc))
        inp_view(a = %a[i] : tensor<?xi64>, one = %one[] : i64)
      scf.yield %v : tensor<?xi64>
    } else {
      scf.yield %a : tensor<?xi64>
    }
    scf.yield %i : tensor<?xi64>
  }
  return %r : tensor<?xi64>
}

// The condition carries out the tensors in the other order, and first.
func.func @moved(%x: tensor<5xi64>, %z: tensor<5xi64>, %n: index) -> (tensor<5xi64>, tensor<5xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %r:3 = scf.while (%s = %c0, %a = %x, %b = %z) : (index, tensor<5xi64>, tensor<5xi64>) -> (tensor<5xi64>, tensor<5xi64>, index) {
    %more = arith.cmpi slt, %s, %n : index
    scf.condition(%more) %b, %a, %s : tensor<5xi64>, tensor<5xi64>, index
  } do {
  ^bb0(%b: tensor<5xi64>, %a: tensor<5xi64>, %s: index):
    %e = tensor.empty() : tensor<5xi64>
    %next = mdh.compute (i = 5)
      out_view(next = %e[i] : tensor<5xi64>)
      md_hom(addi, (cc))
      inp_view(a = %a[i] : tensor<5xi64>, one = %one[] : i64)
    %u = arith.addi %s, %c1 : index
    scf.yield %u, %b, %next : index, tensor<5xi64>, tensor<5xi64>
  }
  return %r#0, %r#1 : tensor<5xi64>, tensor<5xi64>
}

func.func @first_only(%x: tensor<5xi64>, %z: tensor<5xi64>, %n: index) -> tensor<5xi64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%t = %c0, %u = %x, %v = %z) : (index, tensor<5xi64>, tensor<5xi64>) -> (index, tensor<5xi64>) {
    %w = mdh.compute (i = 5)
      out_view(w = %v[i] : tensor<5xi64>)
      md_hom(addi, (cc))
      inp_view(v = %v[i] : tensor<5xi64>, u = %u[4 - i] : tensor<5xi64>)
    %more = arith.cmpi slt, %t, %n : index
    scf.condition(%more) %t, %w : index, tensor<5xi64>
  } do {
  ^bb0(%t: index, %w: tensor<5xi64>):
    %next = arith.addi %t, %c1 : index
    scf.yield %next, %w, %w : index, tensor<5xi64>, tensor<5xi64>
  }
  return %r#1 : tensor<5xi64>
}
