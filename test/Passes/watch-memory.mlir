// Kernels tell the simulator of each access before they make it.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-watch-memory | FileCheck %s

// CHECK-DAG:   llvm.func @mdh_sim_read(!llvm.ptr, i64, i64, !llvm.ptr)
// CHECK-DAG:   llvm.func @mdh_sim_write(!llvm.ptr, i64, i64, !llvm.ptr)
// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME:  (%{{.*}}: !llvm.ptr, %[[THREAD:.*]]: !llvm.ptr)
// CHECK:       %[[AT:.*]] = llvm.ptrtoint %[[P:.*]] : !llvm.ptr to i64
// CHECK-NEXT:  %[[FOUR:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-NEXT:  %[[SITE:.*]] = llvm.mlir.addressof @mdh_site
// CHECK-NEXT:  llvm.call @mdh_sim_read(%[[THREAD]], %[[AT]], %[[FOUR]], %[[SITE]])
// CHECK-NEXT:  llvm.load %[[P]] : !llvm.ptr -> f32
// CHECK:       llvm.mlir.constant(64 : i64)
// CHECK:       llvm.call @mdh_sim_write
// CHECK-NEXT:  llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
llvm.func @kernel(%context: !llvm.ptr, %thread: !llvm.ptr) attributes {mdh.kernel} {
  %p = llvm.load %context : !llvm.ptr -> !llvm.ptr
  %v = llvm.load %p : !llvm.ptr -> f32
  %zero = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
  llvm.store %zero, %p : vector<16xf32>, !llvm.ptr
  llvm.return
}

// -----

// What a thread alone can see is not told, nor what the host does.
// Silent: no other thread can be in its way.
// CHECK-LABEL: llvm.func @own
// CHECK-NOT:   @mdh_sim
llvm.func @own(%context: !llvm.ptr, %thread: !llvm.ptr) attributes {mdh.kernel} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %stack = llvm.alloca %one x f32 : (i64) -> !llvm.ptr
  %v = llvm.load %stack : !llvm.ptr -> f32
  %at = llvm.getelementptr %context[1] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %at : f32, !llvm.ptr
  llvm.return
}
llvm.func @host(%p: !llvm.ptr) -> f32 {
  %v = llvm.load %p : !llvm.ptr -> f32
  llvm.return %v : f32
}

// -----

llvm.func @fills(%context: !llvm.ptr, %thread: !llvm.ptr) attributes {mdh.kernel} {
  %p = llvm.load %context : !llvm.ptr -> !llvm.ptr
  %zero = llvm.mlir.constant(0 : i8) : i8
  %n = llvm.mlir.constant(8 : i64) : i64
  // expected-error @+1 {{'llvm.intr.memset' in a kernel is not simulated}}
  "llvm.intr.memset"(%p, %zero, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.return
}
