// Elements stored where a layout has them: the oracle asks the layout by its definition, compiled
// code computes what the simplifier made of it.
//
// RUN: mdh run %s --check --entry brick --random 1 | FileCheck %s
// RUN: mdh run %s --check --entry curve --random 1 | FileCheck %s
// RUN: mdh run %s --check --entry diagonal --random 1 | FileCheck %s
// RUN: mdh run %s --check --entry table --random 1 | FileCheck %s
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(30).reshape(5, 6)"
// RUN: mdh run %s --check --entry sized --in x=%t.x.npy m=5 n=6 --random 1 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix SIZED
// RUN: not mdh run %s --check --entry sized --in x=%t.x.npy m=5 n=7 --random 1 --out %t.y.npy 2>&1 | FileCheck %s --check-prefix OUTSIDE

// CHECK: check passed
// SIZED: 0 6 12 18 24 1 7 13
// OUTSIDE: error:

func.func @brick(%x: memref<6x6xf32>, %y: memref<36xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    scf.for %j = %c0 to %c6 step %c1 {
      %v = memref.load %x[%i, %j] : memref<6x6xf32>
      %p = mdh.layout.apply #mdh.layout<OrderBy(RegP([2,2],[2,1]),GenP([3,3],antidiag)).OrderBy(RegP([2,3,2,3],[1,3,2,4])).GroupBy([6,6])>[%i, %j]
      memref.store %v, %y[%p] : memref<36xf32>
    }
  }
  return
}

// Along the curve: what is read there is stored one after the other.
func.func @curve(%x: memref<8x8xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %p = %c0 to %c64 step %c1 {
    %i:2 = mdh.layout.inv #mdh.layout<GenP([8,8],hilbert)>[%p] : index, index
    %v = memref.load %x[%i#0, %i#1] : memref<8x8xf32>
    memref.store %v, %y[%p] : memref<64xf32>
  }
  return
}

// Square roots.
func.func @diagonal(%x: memref<5x5xf32>, %y: memref<25xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c25 = arith.constant 25 : index
  scf.for %p = %c0 to %c25 step %c1 {
    %i:2 = mdh.layout.inv #mdh.layout<GenP([5,5],antidiag)>[%p] : index, index
    %v = memref.load %x[%i#0, %i#1] : memref<5x5xf32>
    memref.store %v, %y[%p] : memref<25xf32>
  }
  return
}

func.func @table(%x: memref<6xf32>, %y: memref<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %p = mdh.layout.apply #mdh.layout<GenP([6],table([3,1,5,0,2,4]))>[%i]
    %v = memref.load %x[%i] : memref<6xf32>
    memref.store %v, %y[%p] : memref<6xf32>
  }
  return
}

// Column by column, of sizes that are known when it runs.
func.func @sized(%x: memref<5x6xf32>, %m: index, %n: index, %y: memref<30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<5x6xf32>
      %p = mdh.layout.apply #mdh.layout<Col([m,n]) where m = 1..1000, n = 1..1000>[%i, %j] with(m = %m, n = %n)
      memref.store %v, %y[%p] : memref<30xf32>
    }
  }
  return
}
