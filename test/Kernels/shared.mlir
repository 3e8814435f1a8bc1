// Tiles in the shared memory of blocks, which all threads of a block fill cooperatively, and sums in registers.
//
// RUN: mdh run %s --entry product --device sim --report --random 1 --check | FileCheck %s --check-prefixes CHECK,PRODUCT
// RUN: mdh run %s --entry transposed --device sim --report --random 1 --check | FileCheck %s --check-prefixes CHECK,TRANSPOSED
// RUN: mdh run %s --entry threads_add --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry stencil --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry transpose --device sim --report --random 1 --check | FileCheck %s --check-prefixes CHECK,TRANSPOSE
// RUN: mdh run %s --entry alone --device sim --report --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry maximum --device sim --report --random 1 --check | FileCheck %s
// CHECK:          no mistakes found
// PRODUCT-NEXT:   {{.*}} 6516 accesses to shared memory in 35469 rounds of banks
// TRANSPOSED-NEXT:    {{.*}} 7056 accesses to shared memory in 7920 rounds of banks
// TRANSPOSE-NEXT: {{.*}} 336 accesses to shared memory in 336 rounds of banks
// CHECK:          check passed
func.func @product(%A: memref<63x45xf32>, %B: memref<45x81xf32>, %C: memref<63x81xf32>) {
  mdh.compute (i = 63, j = 81, k = 45)
    out_view(C = %C[i, j] : memref<63x81xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<63x45xf32>, B = %B[k, j] : memref<45x81xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 8}, thread {i: 8, j: 16}, register {i: 4, j: 2}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j]},
      inputs = {A: {stage: {shared.k: shared}}, B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// One input the other way round, with a column that nobody uses; the last dimension's threads are neighbours.
func.func @transposed(%A: memref<63x45xf32>, %B: memref<45x81xf32>, %C: memref<63x81xf32>) {
  mdh.compute (i = 63, j = 81, k = 45)
    out_view(C = %C[i, j] : memref<63x81xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<63x45xf32>, B = %B[k, j] : memref<45x81xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [device {k: *}, block {i: *, j: *}, shared {k: 8}, thread {i: 8, j: 16}, register {i: 4, j: 2}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, device.k, shared.k, register.i, register.j],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {
        A: {stage: {shared.k: shared}, layout: {shared.k: [permuted(2, 1), padded(0, 1)]}},
        B: {stage: {shared.k: shared}}},
      outputs = {C: {combine: {device.k: register}}}>)
  return
}

// Threads have parts of the sum, too: their partial results are the block's.
func.func @threads_add(%A: memref<20x100xf32>, %B: memref<100x9xf32>, %C: memref<20x9xf32>) {
  mdh.compute (i = 20, j = 9, k = 100)
    out_view(C = %C[i, j] : memref<20x9xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<20x100xf32>, B = %B[k, j] : memref<100x9xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *, j: *}, thread {i: 2, j: 4, k: 8}, register {i: 2, j: 1, k: *}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, thread.k, register.k, register.i]}>)
  return
}

func.func @stencil(%x: memref<35x70xf32>, %y: memref<33x68xf32>) {
  mdh.compute (i = 33, j = 68)
    out_view(y = %y[i, j] : memref<33x68xf32>)
    md_hom((%a: f32, %b: f32, %c: f32, %d: f32, %e: f32) {
      %0 = arith.addf %a, %b : f32
      %1 = arith.addf %c, %d : f32
      %2 = arith.addf %0, %1 : f32
      %3 = arith.addf %2, %e : f32
      mdh.yield %3 : f32
    }, (cc, cc))
    inp_view(x = %x[i + 1, j + 1][i, j + 1][i + 2, j + 1][i + 1, j][i + 1, j + 2] : memref<35x70xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *, j: *}, thread {i: 4, j: 32}, register {i: 2, j: 1}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.i], assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {x: {stage: {thread.i: shared}}}>)
  return
}

// Read along rows and written along columns.
func.func @transpose(%x: memref<50x70xf32>, %y: memref<70x50xf32>) {
  mdh.compute (i = 50, j = 70)
    out_view(y = %y[j, i] : memref<70x50xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<50x70xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *, j: *}, thread {i: 32, j: 8}, register {i: 1, j: 4}],
      decompose = {order: [block.i, block.j, thread.j, thread.i, register.j]},
      inputs = {x: {stage: {thread.j: shared}, layout: {thread.j: padded(0, 1)}}}>)
  return
}

// What threads go through differently each has alone, in the block's memory.
func.func @alone(%x: memref<40x30xf32>, %y: memref<40xf32>) {
  mdh.compute (i = 40, j = 30)
    out_view(y = %y[i] : memref<40xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : memref<40x30xf32>)
    schedule(#mdh.schedule<asm = cuda,
      layers = [block {i: *}, shared {j: *}, thread {i: 4}, register {i: 2, j: 4}],
      decompose = {order: [block.i, thread.i, register.i, shared.j, register.j]},
      inputs = {x: {stage: {shared.j: shared}}}>)
  return
}

// A pair is combined by threads and by blocks.
func.func @maximum(%x: memref<777xf32>, %v: memref<f32>, %at: memref<i64>) {
  mdh.compute (i = 777)
    out_view(v = %v[] : memref<f32>, at = %at[] : memref<i64>)
    md_hom((%a: f32) {
      %n = mdh.index 0 : index
      %i = arith.index_cast %n : index to i64
      mdh.yield %a, %i : f32, i64
    }, (pw(larger)))
    inp_view(x = %x[i] : memref<777xf32>)
    combine larger commutative associative (%a: f32, %i: i64, %b: f32, %j: i64) {
      %above = arith.cmpf ogt, %a, %b : f32
      %same = arith.cmpf oeq, %a, %b : f32
      %first = arith.cmpi slt, %i, %j : i64
      %both = arith.andi %same, %first : i1
      %c = arith.ori %above, %both : i1
      %m = arith.select %c, %a, %b : f32
      %k = arith.select %c, %i, %j : i64
      mdh.yield %m, %k : f32, i64
    }
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 32}, register {i: 4}]>)
  return
}
