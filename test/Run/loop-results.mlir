// What a loop that exchanges its tensors leaves is in the memory of any tensor that it starts from, whatever is
// written there later: of each size and type, after no iteration, one, two and three, on the processor and on the
// simulator.
//
// RUN: %python %S/Inputs/loop_results.py mdh %s %t | FileCheck %s
// CHECK: 68 runs, 0 not as expected
// REQUIRES: numpy
//
// RUN: mdh compile %s --emit bufferized | FileCheck %s --check-prefix MEMORY

// The tensor of which the start and the last result are made is one after cse, and another memory each: the
// loop copies nothing.
// MEMORY-LABEL: func.func @shared(
// MEMORY:       memref.alloc()
// MEMORY-NOT:   memref.copy
// MEMORY:       scf.for
// MEMORY-NOT:   memref.copy
// MEMORY:       scf.yield
func.func @shared(%a: tensor<5xi32>, %b: tensor<5xi32>, %n: index) -> (tensor<5xi32>, tensor<5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<5xi32>
  %d = mdh.compute (i = 5)
    out_view(d = %e[i] : tensor<5xi32>)
    md_hom(addi, (cc))
    inp_view(p = %a[i][4 - i] : tensor<5xi32>)
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %d, %y = %b) -> (tensor<5xi32>, tensor<5xi32>) {
    %z = mdh.compute (i = 2 to 5)
      out_view(z = %y[i] : tensor<5xi32>)
      md_hom(addi, (cc))
      inp_view(u = %y[i] : tensor<5xi32>, v = %x[i] : tensor<5xi32>)
    scf.yield %z, %x : tensor<5xi32>, tensor<5xi32>
  }
  %f = tensor.empty() : tensor<5xi32>
  %m = mdh.compute (i = 5)
    out_view(m = %f[i] : tensor<5xi32>)
    md_hom(addi, (cc))
    inp_view(u = %r#0[i] : tensor<5xi32>, v = %r#1[i] : tensor<5xi32>)
  return %r#1, %m : tensor<5xi32>, tensor<5xi32>
}

// Both tensors start from one that holds nothing, and so does the second loop.
func.func @undefined(%a: tensor<5xi32>, %b: tensor<5xi32>, %n: index) -> (tensor<5xi32>, tensor<5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<5xi32>
  %r:2 = scf.for %k = %c0 to %c1 step %c1 iter_args(%x = %e, %y = %e) -> (tensor<5xi32>, tensor<5xi32>) {
    %s = mdh.compute (i = 5)
      out_view(s = %x[i] : tensor<5xi32>)
      md_hom(id, (cc))
      inp_view(a = %a[i] : tensor<5xi32>)
    %t = mdh.compute (i = 5)
      out_view(t = %y[i] : tensor<5xi32>)
      md_hom(addi, (cc))
      inp_view(s = %s[i] : tensor<5xi32>, b = %b[i] : tensor<5xi32>)
    scf.yield %t, %s : tensor<5xi32>, tensor<5xi32>
  }
  %q:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %r#0, %y = %e) -> (tensor<5xi32>, tensor<5xi32>) {
    %t = mdh.compute (i = 5)
      out_view(t = %y[i] : tensor<5xi32>)
      md_hom(addi, (cc))
      inp_view(x = %x[i] : tensor<5xi32>, s = %r#1[i] : tensor<5xi32>)
    scf.yield %t, %x : tensor<5xi32>, tensor<5xi32>
  }
  %m = mdh.compute (i = 5)
    out_view(m = %e[i] : tensor<5xi32>)
    md_hom(id, (cc))
    inp_view(b = %b[i] : tensor<5xi32>)
  %l = mdh.compute (i = 5)
    out_view(l = %e[i] : tensor<5xi32>)
    md_hom(addi, (cc))
    inp_view(m = %m[i] : tensor<5xi32>, s = %q#0[i] : tensor<5xi32>)
  return %q#0, %l : tensor<5xi32>, tensor<5xi32>
}
