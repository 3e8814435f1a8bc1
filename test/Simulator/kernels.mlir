// A kernel with shared memory, and what the simulator counts of it.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "list(range(256))"
// RUN: mdh run %s --entry reverse --device sim --report --in x=%t.x.npy --random 1 --out y=%t.y.npy \
// RUN:   | FileCheck %s
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "a[[0, 63, 64, 255]]" | FileCheck %s --check-prefix VALUE
// CHECK:      sim 1 launch, 4 blocks
// CHECK-NEXT: no mistakes found
// CHECK-NEXT: {{.*}}: 8 accesses to device memory moved 32 sectors, at best 32
// CHECK-NEXT: {{.*}}: 8 accesses to shared memory in 8 rounds of banks, at best 8
// VALUE: 63{{.*}}0{{.*}}127{{.*}}192
//
// Without a simulated GPU there is none.
// RUN: not mdh run %s --entry reverse --random 1 2>&1 | FileCheck %s --check-prefix NONE
// NONE: error: the program launches kernels: expected --device sim
//
// Sums by shuffles.
// RUN: mdh run %s --entry sums --device sim --report --in x=%t.x.npy --random 1 --out y=%t.y.npy | FileCheck %s --check-prefix CLEAN
// RUN: %python %S/../Run/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix SUMS
// CLEAN: no mistakes found
// SUMS: 2016{{.*}}6112{{.*}}10208{{.*}}14304
//
// Without the barrier.
// RUN: sed '/gpu.barrier/d' %s > %t.mlir
// RUN: not mdh run %t.mlir --entry reverse --device sim --report --random 1 | FileCheck %s --check-prefix RACE
// RACE: {{.*}}: data race (128 times): block {{.*}} writes 4 bytes of byte {{.*}} of shared memory, what {{.*}} reads
// RACE: {{.*}}: read of what was not written
//
// Past the end of a buffer, where nothing else looks.
// RUN: sed 's/first, .tx/first, %c64/' %s > %t.mlir
// RUN: not mdh run %t.mlir --entry reverse --device sim --random 1 --no-range-checks 2>&1 | FileCheck %s --check-prefix OUTSIDE
// OUTSIDE: error: {{.*}}: block 3,0,0 thread {{.*}} reads 4 bytes at byte 1024 of a buffer of 1024

func.func @reverse(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c63 = arith.constant 63 : index
  %a = gpu.alloc () : memref<256xf32>
  %b = gpu.alloc () : memref<256xf32>
  gpu.memcpy %a, %x : memref<256xf32>, memref<256xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
     workgroup(%w : memref<64xf32, #gpu.address_space<workgroup>>) {
    %first = arith.muli %bx, %c64 : index
    %i = arith.addi %first, %tx : index
    %v = memref.load %a[%i] : memref<256xf32>
    memref.store %v, %w[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %c63, %tx : index
    %r = memref.load %w[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %r, %b[%i] : memref<256xf32>
    gpu.terminator
  }
  gpu.memcpy %y, %b : memref<256xf32>, memref<256xf32>
  gpu.dealloc %a : memref<256xf32>
  gpu.dealloc %b : memref<256xf32>
  return
}

func.func @sums(%x: memref<256xf32>, %y: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %w32 = arith.constant 32 : i32
  %a = gpu.alloc () : memref<256xf32>
  %b = gpu.alloc () : memref<4xf32>
  gpu.memcpy %a, %x : memref<256xf32>, memref<256xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
     workgroup(%w : memref<2xf32, #gpu.address_space<workgroup>>) {
    %first = arith.muli %bx, %c64 : index
    %i = arith.addi %first, %tx : index
    %v = memref.load %a[%i] : memref<256xf32>
    %o1 = arith.constant 1 : i32
    %s1, %p1 = gpu.shuffle xor %v, %o1, %w32 : f32
    %v1 = arith.addf %v, %s1 : f32
    %o2 = arith.constant 2 : i32
    %s2, %p2 = gpu.shuffle xor %v1, %o2, %w32 : f32
    %v2 = arith.addf %v1, %s2 : f32
    %o4 = arith.constant 4 : i32
    %s4, %p4 = gpu.shuffle xor %v2, %o4, %w32 : f32
    %v4 = arith.addf %v2, %s4 : f32
    %o8 = arith.constant 8 : i32
    %s8, %p8 = gpu.shuffle xor %v4, %o8, %w32 : f32
    %v8 = arith.addf %v4, %s8 : f32
    %o16 = arith.constant 16 : i32
    %s16, %p16 = gpu.shuffle xor %v8, %o16, %w32 : f32
    %v16 = arith.addf %v8, %s16 : f32
    %lane = gpu.lane_id
    %warp = gpu.subgroup_id : index
    %is_first = arith.cmpi eq, %lane, %c0 : index
    scf.if %is_first {
      memref.store %v16, %w[%warp] : memref<2xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %t = gpu.thread_id x
    %is_one = arith.cmpi eq, %t, %c0 : index
    scf.if %is_one {
      %p = memref.load %w[%c0] : memref<2xf32, #gpu.address_space<workgroup>>
      %q = memref.load %w[%c1] : memref<2xf32, #gpu.address_space<workgroup>>
      %r = arith.addf %p, %q : f32
      memref.store %r, %b[%bx] : memref<4xf32>
    }
    gpu.terminator
  }
  gpu.memcpy %y, %b : memref<4xf32>, memref<4xf32>
  gpu.dealloc %a : memref<256xf32>
  gpu.dealloc %b : memref<4xf32>
  return
}
