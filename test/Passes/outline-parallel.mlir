// RUN: mdh-opt %s --verify-diagnostics --mdh-outline-parallel | FileCheck %s

// The body becomes a function of a context and the number of a part; what it uses from outside
// travels in the context, constants are its own, and a loop inside stays a loop.
// CHECK:       func.func private @mdh_parallel_for(!llvm.ptr, !llvm.ptr, i64)
// CHECK:       func.func private @f_parallel(%[[CONTEXT:.*]]: !llvm.ptr, %[[PART:.*]]: i64) {
// CHECK:         %[[ALL:.*]] = llvm.load %[[CONTEXT]]
// CHECK:         llvm.extractvalue %[[ALL]][0]
// CHECK:         scf.parallel
// CHECK:         return
// CHECK-LABEL: func.func @f
// CHECK:         %[[MEMORY:.*]] = llvm.alloca
// CHECK:         llvm.store %{{.*}}, %[[MEMORY]]
// CHECK:         %[[F:.*]] = constant @f_parallel : (!llvm.ptr, i64) -> ()
// CHECK:         %[[POINTER:.*]] = builtin.unrealized_conversion_cast %[[F]]
// CHECK:         call @mdh_parallel_for(%[[POINTER]], %[[MEMORY]], %{{.*}})
// CHECK-NOT:     scf.parallel
func.func @f(%x: memref<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-remark @+1 {{stays a loop of one thread: all threads are busy with the parts of one around it}}
    scf.parallel (%j) = (%c0) to (%c8) step (%c1) {
      memref.store %zero, %x[%i, %j] : memref<?x8xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}

// Lanes of indices travel as lanes of numbers.
// CHECK:       func.func private @lanes_parallel
// CHECK:         llvm.extractvalue %{{.*}}[0] : !llvm.struct<(vector<8xi64>,
// CHECK-NEXT:    builtin.unrealized_conversion_cast %{{.*}} : vector<8xi64> to vector<8xindex>
func.func @lanes(%x: memref<?xindex>, %v: vector<8xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    vector.store %v, %x[%i] : memref<?xindex>, vector<8xindex>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @two
// CHECK-NOT:   @mdh_parallel_for
// CHECK:       scf.parallel
func.func @two(%x: memref<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{stays a loop of one thread: it has several variables: expected one}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c8) step (%c1, %c1) {
    memref.store %zero, %x[%i, %j] : memref<?x8xf32>
    scf.reduce
  }
  return
}

// So does one that launches kernels, on a GPU or on the simulated one.
func.func private @mdh_cuda_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64)
func.func private @mdh_sim_free(!llvm.ptr)
// CHECK-LABEL: func.func @launches
// CHECK-NOT:   @mdh_parallel_for
// CHECK-COUNT-2: scf.parallel
func.func @launches(%p: !llvm.ptr, %s: i64, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{stays a loop of one thread: it launches kernels}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @mdh_cuda_launch(%p, %p, %p, %s, %p, %s) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()
    scf.reduce
  }
  // expected-remark @+1 {{stays a loop of one thread: it launches kernels}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @mdh_sim_free(%p) : (!llvm.ptr) -> ()
    scf.reduce
  }
  return
}

// So does one whose variables are given to cores, be they of one level or of several.
// CHECK-LABEL: func.func @cores
// CHECK-NOT:   @mdh_parallel_for
// CHECK-COUNT-3: scf.forall
func.func @cores(%x: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{stays a loop of one thread: it has several variables: expected one}}
  scf.forall (%i, %j) in (8, 8) {
    memref.store %zero, %x[%i, %j] : memref<8x8xf32>
  } {mapping = [#mdh.core<"core", 0>, #mdh.core<"core", 1>]}
  // expected-remark @+1 {{stays a loop of one thread: it has several variables: expected one}}
  scf.forall (%i, %j) in (8, 8) {
    memref.store %zero, %x[%i, %j] : memref<8x8xf32>
  } {mapping = [#mdh.core<"core", 0>, #mdh.core<"core", 0>]}
  // expected-remark @+1 {{stays a loop of one thread: it has several variables: expected one}}
  scf.forall (%i, %j) in (8, 8) {
    memref.store %zero, %x[%i, %j] : memref<8x8xf32>
  } {mapping = [#mdh.core<"core", 0>, #gpu.thread<x>]}
  return
}

// Refuses nothing: a loop that stays one runs on the caller's thread.
