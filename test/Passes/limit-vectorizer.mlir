// Loops of which LLVM's vectorizer would ask too many questions are kept from it.
//
// RUN: mdh-opt %s --mdh-limit-vectorizer --split-input-file --verify-diagnostics | FileCheck %s

// Refuses nothing: a loop has too many ways or not.

// Each step of the inner loop, which is unrolled, uses what is so far three times: 3^12 ways.
// CHECK:       [[SCALAR:#.*]] = #llvm.loop_annotation<vectorize =
// CHECK-LABEL: func.func @same
// CHECK:         memref.store
// CHECK-NEXT:  } {llvm.loop_annotation = [[SCALAR]]}
func.func @same(%x: memref<12xi64>, %y: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0 : i64
  // expected-remark @+1 {{is kept from LLVM's vectorizer, which would take too long: found values that are the same in all iterations and more than 10000 ways from one to what it is computed from, expected fewer}}
  scf.for %p = %c0 to %n step %c1 {
    %least = scf.for %k = %c0 to %c12 step %c1 iter_args(%so_far = %zero) -> (i64) {
      %x_k = memref.load %x[%k] : memref<12xi64>
      %is_less = arith.cmpi slt, %so_far, %x_k : i64
      %sum = arith.addi %so_far, %x_k : i64
      %next = arith.select %is_less, %so_far, %sum : i64
      scf.yield %next : i64
    }
    memref.store %least, %y[%p] : memref<?xi64>
  }
  return
}

// -----

// Branches become selections, loops in loops are unrolled too, and what is said of unrolling stays.
#rolled = #llvm.loop_annotation<unroll = <disable = true>>
// CHECK:       = #llvm.loop_annotation<vectorize = {{.*}}, unroll =
// CHECK-LABEL: func.func @branches
// CHECK-COUNT-1: } {llvm.loop_annotation
// CHECK-NOT:   llvm.loop_annotation
func.func @branches(%x: memref<6xi64>, %y: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0 : i64
  // expected-remark @+1 {{is kept from LLVM's vectorizer}}
  scf.for %p = %c0 to %n step %c1 {
    %least = scf.for %i = %c0 to %c6 step %c2 iter_args(%outer = %zero) -> (i64) {
      %inner = scf.for %k = %c0 to %c6 step %c1 iter_args(%so_far = %outer) -> (i64) {
        %x_k = memref.load %x[%k] : memref<6xi64>
        %is_less = arith.cmpi slt, %so_far, %x_k : i64
        %next = scf.if %is_less -> (i64) {
          scf.yield %so_far : i64
        } else {
          %sum = arith.addi %so_far, %x_k : i64
          scf.yield %sum : i64
        }
        scf.yield %next : i64
      }
      scf.yield %inner : i64
    }
    memref.store %least, %y[%p] : memref<?xi64>
  } {llvm.loop_annotation = #rolled}
  return
}

// -----

// CHECK-NOT: llvm.loop_annotation

// Silent: the chain starts at another element each time, which ends the search.
func.func @differs(%x: memref<12xi64>, %y: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  scf.for %p = %c0 to %n step %c1 {
    %first = memref.load %y[%p] : memref<?xi64>
    %least = scf.for %k = %c0 to %c12 step %c1 iter_args(%so_far = %first) -> (i64) {
      %x_k = memref.load %x[%k] : memref<12xi64>
      %is_less = arith.cmpi slt, %so_far, %x_k : i64
      %next = arith.select %is_less, %so_far, %x_k : i64
      scf.yield %next : i64
    }
    memref.store %least, %y[%p] : memref<?xi64>
  }
  return
}

// Silent: a sum uses what is so far once, and has no more ways than operations.
func.func @sum(%x: memref<800xi64>, %y: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c800 = arith.constant 800 : index
  %zero = arith.constant 0 : i64
  scf.for %p = %c0 to %n step %c1 {
    %all = scf.for %k = %c0 to %c800 step %c1 iter_args(%so_far = %zero) -> (i64) {
      %x_k = memref.load %x[%k] : memref<800xi64>
      %sum = arith.addi %so_far, %x_k : i64
      scf.yield %sum : i64
    }
    memref.store %all, %y[%p] : memref<?xi64>
  }
  return
}

// Silent: LLVM unrolls no loop of an open size, nor one of so many operations, and vectorizes none around it.
func.func @rolled(%x: memref<?xi64>, %y: memref<?xi64>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5000 = arith.constant 5000 : index
  %zero = arith.constant 0 : i64
  scf.for %p = %c0 to %n step %c1 {
    %open = scf.for %k = %c0 to %m step %c1 iter_args(%so_far = %zero) -> (i64) {
      %square = arith.muli %so_far, %so_far : i64
      scf.yield %square : i64
    }
    memref.store %open, %y[%p] : memref<?xi64>
  }
  scf.for %p = %c0 to %n step %c1 {
    %long = scf.for %k = %c0 to %c5000 step %c1 iter_args(%so_far = %zero) -> (i64) {
      %square = arith.muli %so_far, %so_far : i64
      scf.yield %square : i64
    }
    memref.store %long, %y[%p] : memref<?xi64>
  }
  return
}

// Silent: LLVM vectorizes no loops with vectors.
func.func @vectors(%x: memref<64xi64>, %y: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant dense<0> : vector<4xi64>
  scf.for %p = %c0 to %n step %c1 {
    %all = scf.for %k = %c0 to %c20 step %c1 iter_args(%so_far = %zero) -> (vector<4xi64>) {
      %square = arith.muli %so_far, %so_far : vector<4xi64>
      scf.yield %square : vector<4xi64>
    }
    %one = vector.extract %all[0] : i64 from vector<4xi64>
    memref.store %one, %y[%p] : memref<?xi64>
  }
  return
}
