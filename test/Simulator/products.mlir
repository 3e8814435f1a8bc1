// Warp-level MMA: each lane loads its fragments, and stores its sums.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.a.npy f2 "np.arange(256).reshape(16, 16) % 13 - 5" %t.b.npy f2 "np.arange(128).reshape(8, 16) % 7 - 3"
// RUN: %python %S/../Run/Inputs/npy.py save %t.want.npy f4 "np.load('%t.a.npy').astype('f4') @ np.load('%t.b.npy').astype('f4').T + 1"
// RUN: mdh run %s --entry halves --device sim --report --in a=%t.a.npy --in b=%t.b.npy --random 1 --out c=%t.c.npy | FileCheck %s
// RUN: %python %S/../Run/Inputs/npy.py show %t.c.npy "[np.abs(a - np.load('%t.want.npy')).max()]" | FileCheck %s --check-prefix SAME
// CHECK: no mistakes found
// SAME:  16x8 float32
// SAME-NEXT: {{^0$}}
//
// The same numbers as the upper halves of f32.
// RUN: %python %S/../Run/Inputs/npy.py save %t.a2.npy i2 "np.load('%t.a.npy').astype('f4').view('i4') >> 16" %t.b2.npy i2 "np.load('%t.b.npy').astype('f4').view('i4') >> 16"
// RUN: mdh run %s --entry brains --device sim --report --in a=%t.a2.npy --in b=%t.b2.npy --random 1 --out c=%t.c.npy | FileCheck %s
// RUN: %python %S/../Run/Inputs/npy.py show %t.c.npy "[np.abs(a - np.load('%t.want.npy')).max()]" | FileCheck %s --check-prefix SAME
//
// Not all lanes are there.
// RUN: not mdh run %s --entry some --device sim --report --random 1 | FileCheck %s --check-prefix SOME
// SOME: {{.*}}: divergent warp operation: lane 0 has ended
//
// Nor are there so many.
// RUN: sed 's/.c32 = arith.constant 32/%%c32 = arith.constant 16/' %s > %t.mlir
// RUN: not mdh run %t.mlir --entry halves --device sim --report --random 1 | FileCheck %s --check-prefix FEW
// FEW: {{.*}}: divergent warp operation (16 times): the warp of block 0,0,0 thread 0,0,0 has 16 of 32 lanes
//
// RUN: sed 's/k = 16>/k = 8>/; s/A\[.p0, .p1, .p2, .p3\] B\[.q0, .q1\]/A[%%p0, %%p1] B[%%q0]/' %s > %t.mlir
// RUN: not mdh run %t.mlir --entry halves --device sim --random 1 2>&1 | FileCheck %s --check-prefix OTHER
// OTHER: error: {{.*}} has 'nvvm.mma.sync' of #nvvm.shape<m = 16, n = 8, k = 8> and factors of #nvvm.mma_type<f16> and #nvvm.mma_type<f16> inside, which is not simulated: expected m = 16, n = 8, k = 16, factors of f16 or bf16 and sums of f32

func.func @halves(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %x = gpu.alloc () : memref<16x16xf16>
  %y = gpu.alloc () : memref<8x16xf16>
  %z = gpu.alloc () : memref<16x8xf32>
  gpu.memcpy %x, %a : memref<16x16xf16>, memref<16x16xf16>
  gpu.memcpy %y, %b : memref<8x16xf16>, memref<8x16xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %g = arith.divui %tx, %c4 : index
    %t = arith.remui %tx, %c4 : index
    %k = arith.muli %t, %c2 : index
    %g8 = arith.addi %g, %c8 : index
    %k8 = arith.addi %k, %c8 : index
    %one = arith.constant 1.0 : f32
    %p0 = vector.load %x[%g, %k] : memref<16x16xf16>, vector<2xf16>
    %p1 = vector.load %x[%g8, %k] : memref<16x16xf16>, vector<2xf16>
    %p2 = vector.load %x[%g, %k8] : memref<16x16xf16>, vector<2xf16>
    %p3 = vector.load %x[%g8, %k8] : memref<16x16xf16>, vector<2xf16>
    %q0 = vector.load %y[%g, %k] : memref<8x16xf16>, vector<2xf16>
    %q1 = vector.load %y[%g, %k8] : memref<8x16xf16>, vector<2xf16>
    %d = nvvm.mma.sync A[%p0, %p1, %p2, %p3] B[%q0, %q1] C[%one, %one, %one, %one]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    %r0 = vector.from_elements %d0, %d1 : vector<2xf32>
    %r1 = vector.from_elements %d2, %d3 : vector<2xf32>
    vector.store %r0, %z[%g, %k] : memref<16x8xf32>, vector<2xf32>
    vector.store %r1, %z[%g8, %k] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  gpu.memcpy %c, %z : memref<16x8xf32>, memref<16x8xf32>
  gpu.dealloc %x : memref<16x16xf16>
  gpu.dealloc %y : memref<8x16xf16>
  gpu.dealloc %z : memref<16x8xf32>
  return
}

func.func @brains(%a: memref<16x16xi16>, %b: memref<8x16xi16>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %x = gpu.alloc () : memref<16x16xi16>
  %y = gpu.alloc () : memref<8x16xi16>
  %z = gpu.alloc () : memref<16x8xf32>
  gpu.memcpy %x, %a : memref<16x16xi16>, memref<16x16xi16>
  gpu.memcpy %y, %b : memref<8x16xi16>, memref<8x16xi16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %g = arith.divui %tx, %c4 : index
    %t = arith.remui %tx, %c4 : index
    %k = arith.muli %t, %c2 : index
    %g8 = arith.addi %g, %c8 : index
    %k8 = arith.addi %k, %c8 : index
    %one = arith.constant 1.0 : f32
    %p0 = vector.load %x[%g, %k] : memref<16x16xi16>, vector<2xi16>
    %p1 = vector.load %x[%g8, %k] : memref<16x16xi16>, vector<2xi16>
    %p2 = vector.load %x[%g, %k8] : memref<16x16xi16>, vector<2xi16>
    %p3 = vector.load %x[%g8, %k8] : memref<16x16xi16>, vector<2xi16>
    %q0 = vector.load %y[%g, %k] : memref<8x16xi16>, vector<2xi16>
    %q1 = vector.load %y[%g, %k8] : memref<8x16xi16>, vector<2xi16>
    %u0 = llvm.bitcast %p0 : vector<2xi16> to i32
    %u1 = llvm.bitcast %p1 : vector<2xi16> to i32
    %u2 = llvm.bitcast %p2 : vector<2xi16> to i32
    %u3 = llvm.bitcast %p3 : vector<2xi16> to i32
    %v0 = llvm.bitcast %q0 : vector<2xi16> to i32
    %v1 = llvm.bitcast %q1 : vector<2xi16> to i32
    %d = nvvm.mma.sync A[%u0, %u1, %u2, %u3] B[%v0, %v1] C[%one, %one, %one, %one]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>,
       multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    %r0 = vector.from_elements %d0, %d1 : vector<2xf32>
    %r1 = vector.from_elements %d2, %d3 : vector<2xf32>
    vector.store %r0, %z[%g, %k] : memref<16x8xf32>, vector<2xf32>
    vector.store %r1, %z[%g8, %k] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  gpu.memcpy %c, %z : memref<16x8xf32>, memref<16x8xf32>
  gpu.dealloc %x : memref<16x16xi16>
  gpu.dealloc %y : memref<8x16xi16>
  gpu.dealloc %z : memref<16x8xf32>
  return
}

func.func @some(%c: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %z = gpu.alloc () : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %is_there = arith.cmpi ne, %tx, %c0 : index
    scf.if %is_there {
      %one = arith.constant 1.0 : f32
      %ones = arith.constant dense<1.0> : vector<2xf16>
      %d = nvvm.mma.sync A[%ones, %ones, %ones, %ones] B[%ones, %ones] C[%one, %one, %one, %one]
        {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
        : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
      memref.store %d0, %z[%tx] : memref<32xf32>
    }
    gpu.terminator
  }
  gpu.memcpy %c, %z : memref<32xf32>, memref<32xf32>
  gpu.dealloc %z : memref<32xf32>
  return
}
