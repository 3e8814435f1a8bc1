// Memory that is chosen at run time: the oracle knows which it is, and what reads and writes it stays in order.
//
// RUN: mdh run %s --entry select --in c=1 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry select --in c=0 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry written --in c=1 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry written --in c=0 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry own --in c=1 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry own --in c=0 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry tensors --in c=1 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry branch --in c=1 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry branch --in c=0 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry blocks --in c=1 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry region --in c=0 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry switch --in i=3 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry switch --in i=5 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry switch --in i=7 --random 1 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry loop --in n=3 --random 1 --check=all 2>&1 | FileCheck %s
//
// What a switch yields has the size that all its cases have.
// RUN: mdh run %s --entry sizes --in i=5 --size i=6 --random 1 --check=all 2>&1 | FileCheck %s --check-prefixes SIZES,CHECK
// SIZES: out {{.*}} 6xf32
// CHECK: check {{ *}}passed: {{[0-9]+}} of {{[0-9]+}} elements compared

func.func @select(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>, %o: memref<4xf32>) {
  %m = arith.select %c, %x, %y : memref<4xf32>
  linalg.exp ins(%m : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

func.func @written(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>) {
  %m = arith.select %c, %x, %y : memref<4xf32>
  linalg.exp ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  return
}

func.func @own(%c: i1, %x: memref<4xf32>, %o: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %m = arith.select %c, %x, %a : memref<4xf32>
  linalg.abs ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.exp ins(%m : memref<4xf32>) outs(%o : memref<4xf32>)
  memref.dealloc %a : memref<4xf32>
  return
}

func.func @tensors(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %m = arith.select %c, %x, %y : tensor<4xf32>
  %r = linalg.exp ins(%m : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @branch(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>, %o: memref<4xf32>) {
  %m = scf.if %c -> memref<4xf32> {
    scf.yield %x : memref<4xf32>
  } else {
    scf.yield %y : memref<4xf32>
  }
  linalg.exp ins(%m : memref<4xf32>) outs(%o : memref<4xf32>)
  linalg.abs ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  return
}

func.func @switch(%i: index, %x: memref<4xf32>, %y: memref<4xf32>, %o: memref<4xf32>) {
  %m = scf.index_switch %i -> memref<4xf32>
  case 3 {
    scf.yield %x : memref<4xf32>
  }
  case 5 {
    %n = memref.cast %o : memref<4xf32> to memref<?xf32>
    %p = memref.cast %n : memref<?xf32> to memref<4xf32>
    scf.yield %p : memref<4xf32>
  }
  default {
    scf.yield %y : memref<4xf32>
  }
  linalg.exp ins(%m : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

func.func @blocks(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>, %o: memref<4xf32>) {
  cf.cond_br %c, ^use(%x : memref<4xf32>), ^use(%y : memref<4xf32>)
^use(%m: memref<4xf32>):
  linalg.exp ins(%m : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

func.func @region(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>, %o: memref<4xf32>) {
  %m = scf.execute_region -> memref<4xf32> {
    %n = arith.select %c, %x, %y : memref<4xf32>
    scf.yield %n : memref<4xf32>
  }
  linalg.exp ins(%m : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

func.func @loop(%n: index, %x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (memref<4xf32>, memref<4xf32>) {
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    scf.yield %b, %a : memref<4xf32>, memref<4xf32>
  }
  linalg.abs ins(%r#0 : memref<4xf32>) outs(%r#1 : memref<4xf32>)
  return
}

func.func @sizes(%i: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %y = scf.index_switch %i -> tensor<?xf32>
  case 5 {
    %r = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }
  default {
    %r = linalg.abs ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
