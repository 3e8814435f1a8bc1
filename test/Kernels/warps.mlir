// Warps: their threads combine results in registers by shuffles, warps in the block's memory.
//
// RUN: mdh run %s --entry rows --device sim --report --random 1 --check | FileCheck %s --check-prefixes CHECK,ALONE
// RUN: mdh run %s --entry parts --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry late --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry grid --device sim --report --random 1 --check | FileCheck %s --check-prefixes CHECK,ALONE
// RUN: mdh run %s --entry seven --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry last --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry largest --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry remainders --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry wide --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry both --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry outside --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry product --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry many --size b=2 --size d=2 --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry one --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry filled --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry map --device sim --report --random 1 --check | FileCheck %s --check-prefixes CHECK,ALONE
// CHECK:     no mistakes found
// ALONE-NOT: shared memory
// CHECK:     check passed
//
// RUN: mdh compile %s --entry rows --emit ptx | FileCheck %s --check-prefix ROWS
// Each warp has its row: nothing is shared, and no warp waits for another one.
// ROWS:             .visible .entry rows_0(
// ROWS-NOT:         .shared
// ROWS-NOT:         bar.sync
// ROWS-COUNT-5:     shfl.sync.down.b32
// ROWS-NOT:         shfl.sync
//
// RUN: mdh compile %s --entry parts --emit ptx | FileCheck %s --check-prefix PARTS
// One value of each of 4 warps is shared.
// PARTS:         .visible .entry parts_0(
// PARTS:         .shared {{.*}}[16];
// PARTS-COUNT-5: shfl.sync.down.b32
// PARTS:         bar.sync
// PARTS-NOT:     bar.sync
// PARTS:         .visible .entry
func.func @rows(%M: memref<50x300xf32>, %v: memref<300xf32>, %w: memref<50xf32>) {
  mdh.compute (i = 50, k = 300)
    out_view(w = %w[i] : memref<50xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<50x300xf32>, v = %v[k] : memref<300xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *}, warp {i: 4}, thread {k: 32}],
      decompose = {order: [block.i, warp.i, device.k, thread.k]},
      recompose = {order: [block.i, warp.i, thread.k, device.k]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}

func.func @parts(%x: memref<1000xf32>, %z: memref<1000xf32>, %y: memref<f32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[] : memref<f32>)
    md_hom(mulf, (pw(addf)))
    inp_view(x = %x[i] : memref<1000xf32>, z = %z[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {i: 4}, thread {i: 32}, register {i: 2}],
      outputs = {y: {combine: {warp.i: shared, thread.i: register}}}>)
  return
}

// Warps have a part of the sum each, of which their threads have every 32nd number.
func.func @late(%M: memref<10x1000xf32>, %w: memref<10xf32>) {
  mdh.compute (i = 10, k = 1000)
    out_view(w = %w[i] : memref<10xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<10x1000xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {k: 4}, device {k: *}, thread {k: 32}],
      decompose = {order: [block.i, warp.k, device.k, thread.k]},
      recompose = {order: [block.i, warp.k, thread.k, device.k]},
      outputs = {w: {combine: {warp.k: shared, thread.k: register}}}>)
  return
}

// Several rows in one warp: what is combined is not that of neighbours.
func.func @grid(%M: memref<45x50xf32>, %w: memref<45xf32>) {
  mdh.compute (i = 45, k = 50)
    out_view(w = %w[i] : memref<45xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<45x50xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {i: 2}, thread {i: 4, k: 8}, register {i: 3, k: *}],
      decompose = {order: [block.i, warp.i, thread.i, thread.k, register.k, register.i]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}

// No power of two.
func.func @seven(%M: memref<30x61xf64>, %w: memref<30xf64>) {
  mdh.compute (i = 30, k = 61)
    out_view(w = %w[i] : memref<30xf64>)
    md_hom(id, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<30x61xf64>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {i: 3, k: 2}, thread {k: 7}, register {i: 2, k: *}],
      decompose = {order: [block.i, warp.i, warp.k, thread.k, register.k, register.i]},
      outputs = {w: {combine: {warp.k: shared, thread.k: register}}}>)
  return
}

// An operator that does not commute: the last pair that is marked.
func.func @last(%x: memref<700xi16>, %value: memref<i16>, %mark: memref<i1>) {
  mdh.compute (i = 700)
    out_view(v = %value[] : memref<i16>, mark = %mark[] : memref<i1>)
    md_hom((%a: i16) {
      %zero = arith.constant 0 : i16
      %is = arith.cmpi sgt, %a, %zero : i16
      mdh.yield %a, %is : i16, i1
    }, (pw(later)))
    inp_view(x = %x[i] : memref<700xi16>)
    combine later associative (%a: i16, %p: i1, %b: i16, %q: i1) {
      %v = arith.select %q, %b, %a : i16
      %is = arith.ori %p, %q : i1
      mdh.yield %v, %is : i16, i1
    }
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, warp {i: 3}, thread {i: 32}, register {i: 2}],
      outputs = {v: {combine: {warp.i: shared, thread.i: register}}, mark: {combine: {warp.i: shared, thread.i: register}}}>)
  return
}

func.func @largest(%x: memref<777xf16>, %v: memref<f16>, %at: memref<i64>) {
  mdh.compute (i = 777)
    out_view(v = %v[] : memref<f16>, at = %at[] : memref<i64>)
    md_hom((%a: f16) {
      %n = mdh.index 0 : index
      %i = arith.index_cast %n : index to i64
      mdh.yield %a, %i : f16, i64
    }, (pw(larger)))
    inp_view(x = %x[i] : memref<777xf16>)
    combine larger commutative associative (%a: f16, %i: i64, %b: f16, %j: i64) {
      %above = arith.cmpf ogt, %a, %b : f16
      %same = arith.cmpf oeq, %a, %b : f16
      %first = arith.cmpi slt, %i, %j : i64
      %both = arith.andi %same, %first : i1
      %c = arith.ori %above, %both : i1
      %m = arith.select %c, %a, %b : f16
      %k = arith.select %c, %i, %j : i64
      mdh.yield %m, %k : f16, i64
    }
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 32}, register {i: 4}],
      outputs = {v: {combine: {thread.i: register}}, at: {combine: {thread.i: register}}}>)
  return
}

// An operator that must not be applied to what nobody has written: it adds, but divides on the way.
func.func @remainders(%M: memref<21x70xi64>, %w: memref<21xi64>) {
  mdh.compute (i = 21, k = 70)
    out_view(w = %w[i] : memref<21xi64>)
    md_hom((%a: i64) {
      %mask = arith.constant 1023 : i64
      %one = arith.constant 1 : i64
      %low = arith.andi %a, %mask : i64
      %n = arith.addi %low, %one : i64
      mdh.yield %n : i64
    }, (cc, pw(sum)))
    inp_view(M = %M[i, k] : memref<21x70xi64>)
    combine sum associative (%a: i64, %b: i64) {
      %product = arith.muli %a, %b : i64
      %same = arith.divsi %product, %b : i64
      %both = arith.addi %same, %b : i64
      mdh.yield %both : i64
    }
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {i: 2}, thread {i: 2, k: 11}, register {i: 2, k: *}],
      decompose = {order: [block.i, warp.i, thread.i, thread.k, register.k, register.i]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}

// More results of each thread than are combined without a loop.
func.func @wide(%M: memref<200x64xi8>, %w: memref<200xi8>) {
  mdh.compute (i = 200, k = 64)
    out_view(w = %w[i] : memref<200xi8>)
    md_hom(id, (cc, pw(addi)))
    inp_view(M = %M[i, k] : memref<200x64xi8>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, thread {k: 16}, register {i: 80, k: *}],
      decompose = {order: [block.i, thread.k, register.k, register.i]},
      outputs = {w: {combine: {thread.k: register}}}>)
  return
}

// Threads combine along two dimensions.
func.func @both(%M: memref<9x40x33xf32>, %w: memref<9xf32>) {
  mdh.compute (i = 9, j = 40, k = 33)
    out_view(w = %w[i] : memref<9xf32>)
    md_hom(id, (cc, pw(addf), pw(addf)))
    inp_view(M = %M[i, j, k] : memref<9x40x33xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {j: 2}, thread {j: 4, k: 8}, register {j: *, k: *}],
      decompose = {order: [block.i, warp.j, thread.j, thread.k, register.j, register.k]},
      outputs = {w: {combine: {warp.j: shared, thread.j: register}}}>)
  return
}

// The loop over warps inside of the one over threads: these are threads of all warps.
func.func @outside(%M: memref<40x64xf32>, %w: memref<40xf32>) {
  mdh.compute (i = 40, k = 64)
    out_view(w = %w[i] : memref<40xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<40x64xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, warp {k: 4}, thread {i: 8}, register {k: *}],
      decompose = {order: [block.i, thread.i, warp.k, register.k]}>)
  return
}

// The schedule of docs/schedule.md.
func.func @product(%A: memref<7x1000xf32>, %B: memref<1000x9xf32>, %C: memref<7x9xf32>) {
  mdh.compute (i = 7, j = 9, k = 1000)
    out_view(C = %C[i, j] : memref<7x9xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<7x1000xf32>, B = %B[k, j] : memref<1000x9xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *, j: *}, warp {k: 4}, device {k: *}, thread {k: 32}],
      decompose = {order: [block.i, block.j, warp.k, device.k, thread.k]},
      recompose = {order: [block.i, block.j, warp.k, thread.k, device.k]},
      outputs = {C: {combine: {warp.k: shared, thread.k: register}}}>)
  return
}

// A schedule without blocks has one.
func.func @one(%x: memref<100xf32>, %y: memref<f32>) {
  mdh.compute (i = 100)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<100xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [warp {i: 2}, thread {i: 32}, register {i: *}],
      outputs = {y: {combine: {warp.i: shared, thread.i: register}}}>)
  return
}

func.func @map(%x: memref<1000xf32>, %y: memref<1000xf32>) {
  mdh.compute (i = 1000)
    out_view(y = %y[i] : memref<1000xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<1000xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, warp {i: 4}, thread {i: 32}]>)
  return
}

// What two warps have is combined by all threads of the block: of dimensions behind the machine's third
// one, by no more of them than that has.
func.func @many(%A: memref<2x?x2x?x2xf32>, %C: memref<2x?x2x?xf32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %A, %c1 : memref<2x?x2x?x2xf32>
  %m = memref.dim %A, %c3 : memref<2x?x2x?x2xf32>
  mdh.compute (a = 2, b = %n, c = 2, d = %m, e = 1, f = 1, g = 2)
    out_view(C = %C[a, b, c, d + e + f] : memref<2x?x2x?xf32>)
    md_hom(id, (cc, cc, cc, cc, cc, cc, pw(addf)))
    inp_view(A = %A[a, b, c, d + e + f, g] : memref<2x?x2x?x2xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {g: *}, block {a: *, b: *, c: *, d: *, e: *, f: *}, warp {g: 2}, thread {a: 4, b: 4, c: 4, d: 8}]>)
  return
}

// A warp of 3 threads is one of 4 on the device, of which the last has no part.
func.func @filled(%x: memref<2x6xf32>, %y: memref<2xf32>) {
  mdh.compute (i = 2, k = 6)
    out_view(y = %y[i] : memref<2xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<2x6xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [device {k: 2}, block {i: *}, warp {i: 2}, thread {k: 3}],
      outputs = {y: {combine: {device.k: register}}}>)
  return
}
