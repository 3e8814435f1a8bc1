// A memory space says in which region of the machine memory stays, and whose it is. It is part of the type, so that
// what upstream's passes make of memory keeps it.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics | mdh-opt --split-input-file | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | mdh-opt --split-input-file | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s --check-prefix SIMPLER

// CHECK-LABEL: func.func @all
func.func @all(%x: memref<8xf32>, %n: index) {
  // CHECK: memref.alloc(%{{.*}}) : memref<?xf32, #mdh.memory<"L2">>
  %a = memref.alloc(%n) : memref<?xf32, #mdh.memory<"L2">>
  // CHECK: memref.alloca() : memref<4xf32, #mdh.memory<"register", thread>>
  %b = memref.alloca() : memref<4xf32, #mdh.memory<"register", thread>>
  // CHECK: mdh.layout.view %{{.*}} : memref<4xf32, #mdh.memory<"register", thread>> to memref<2x2xf32, #mdh.layout<
  %c = mdh.layout.view %b : memref<4xf32, #mdh.memory<"register", thread>> to memref<2x2xf32, #mdh.layout<GenP([2,2],reverse)>>
  // CHECK: mdh.compute (i = 2, j = 2)
  // CHECK-NEXT: out_view(c = %{{.*}}[i, j] : memref<2x2xf32, #mdh.layout<
  // CHECK: inp_view(a = %{{.*}}[i + j] : memref<?xf32, #mdh.memory<"L2">>)
  mdh.compute (i = 2, j = 2)
    out_view(c = %c[i, j] : memref<2x2xf32, #mdh.layout<GenP([2,2],reverse)>>)
    md_hom(id, (cc, cc))
    inp_view(a = %a[i + j] : memref<?xf32, #mdh.memory<"L2">>)
  return
}

// The memory of a block stays the block's when its size is known.
// SIMPLER-LABEL: func.func @sized
// SIMPLER: memref.alloca() {alignment = 16 : i64} : memref<8xf32, #mdh.memory<"shared", block>>
// SIMPLER: memref.store %{{.*}} : memref<8xf32, #mdh.memory<"shared", block>>
func.func @sized(%e: f32, %i: index) -> f32 {
  %c8 = arith.constant 8 : index
  %a = memref.alloca(%c8) {alignment = 16 : i64} : memref<?xf32, #mdh.memory<"shared", block>>
  memref.store %e, %a[%i] : memref<?xf32, #mdh.memory<"shared", block>>
  %0 = memref.load %a[%i] : memref<?xf32, #mdh.memory<"shared", block>>
  return %0 : f32
}

// -----

// expected-error @+1 {{expected whose memory it is, block or thread, or '>' if it is everybody's}}
func.func private @warp(memref<8xf32, #mdh.memory<"shared", warp>>)

// -----

// expected-error @+1 {{found a region without a name, expected one such as "L2"}}
func.func private @unnamed(memref<8xf32, #mdh.memory<"">>)

// -----

// expected-error @+1 {{expected string}}
func.func private @number(memref<8xf32, #mdh.memory<2>>)

// -----

func.func @other_space(%x: memref<8xf32, #mdh.memory<"L2">>) {
  // expected-error @+1 {{result type 'memref<?xf32, #mdh.memory<"L1">>' are cast incompatible}}
  %y = memref.cast %x : memref<8xf32, #mdh.memory<"L2">> to memref<?xf32, #mdh.memory<"L1">>
  return
}
