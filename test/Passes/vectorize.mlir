// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-vectorize=asm=cpu --canonicalize --cse | FileCheck %s

// Sums stay in registers: loops carry them, and products are contracted into them. What is read
// for the second column is read after the first product was added.
// CHECK-LABEL: func.func @product
// CHECK:       %[[SUMS:.*]]:4 = scf.for %[[K:.*]] = %c0 to %c100 step %c1 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:         memref.load %{{.*}}[%c0, %[[K]]]
// CHECK:         vector.load %{{.*}}[%[[K]], %c0]
// CHECK:         arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK-NEXT:    arith.addf {{.*}} fastmath<reassoc,contract> : vector<16xf32>
// CHECK-NOT:     vector.load %{{.*}}[%[[K]], %c0]
// CHECK:         vector.load %{{.*}}[%[[K]], %c16]
// CHECK:       vector.store %[[SUMS]]#0, %{{.*}}[%c0, %c0]
// CHECK:       vector.store %[[SUMS]]#3, %{{.*}}[%c1, %c16]
func.func @product(%A: memref<2x100xf32>, %B: memref<100x32xf32>, %C: memref<2x32xf32>) {
  mdh.compute (i = 2, j = 32, k = 100)
      out_view(C = %C[i, j] : memref<2x32xf32>)
      md_hom(mulf, (cc, cc, pw(addf)))
      inp_view(A = %A[i, k] : memref<2x100xf32>, B = %B[k, j] : memref<100x32xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2, j: 2, k: 100}, simd {j: 16}],
        decompose = {order: [register.k, register.i, register.j, simd.j]}>)
  return
}

// Lanes of a sum are combined once after the loop where R1 says so, half with half since the order
// is free; points that do not fill the lanes are masked.
// CHECK-LABEL: func.func @late
// CHECK:       %[[SUM:.*]] = scf.for {{.*}} to %c96 step %c16 {{.*}} -> (vector<16xf32>)
// CHECK:       vector.maskedload
// CHECK:       arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:       vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:       vector.shuffle %{{.*}} [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK:       vector.shuffle %{{.*}} [2, 3]
// CHECK:       memref.store %{{.*}}[] : memref<f32>
func.func @late(%x: memref<100xf32>, %s: memref<f32>) {
  mdh.compute (i = 100)
      out_view(s = %s[] : memref<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : memref<100xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}],
        decompose = {order: [L1.i, simd.i]}, recompose = {order: [simd.i, L1.i]},
        outputs = {s: {combine: {simd.i: register}}}>)
  return
}

// Where R1 is D1, each iteration combines its lanes.
// CHECK-LABEL: func.func @early
// CHECK:       scf.for {{.*}} -> (f32)
// CHECK:         vector.load
// CHECK:         vector.shuffle
// CHECK:         arith.addf {{.*}} : f32
func.func @early(%x: memref<96xf32>, %s: memref<f32>) {
  mdh.compute (i = 96)
      out_view(s = %s[] : memref<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : memref<96xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}],
        decompose = {order: [L1.i, simd.i]}, outputs = {s: {combine: {L1.i: register}}}>)
  return
}

// A prefix-sum over lanes takes steps of 1, 2, 4 and so on; the last lane is carried on.
// CHECK-LABEL: func.func @scan
// CHECK:       scf.for {{.*}} -> (i64)
// CHECK:         %[[X:.*]] = vector.load
// CHECK:         vector.shuffle %[[X]], %[[X]] [0, 0, 1, 2, 3, 4, 5, 6]
// CHECK:         vector.shuffle %{{.*}} [0, 0, 0, 1, 2, 3, 4, 5]
// CHECK:         vector.shuffle %{{.*}} [0, 0, 0, 0, 0, 1, 2, 3]
// CHECK:         vector.extract %{{.*}}[7]
// CHECK:         vector.store
func.func @scan(%x: memref<32xi64>, %y: memref<32xi64>) {
  mdh.compute (i = 32)
      out_view(y = %y[i] : memref<32xi64>)
      md_hom(id, (ps(addi)))
      inp_view(x = %x[i] : memref<32xi64>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}],
        decompose = {order: [L1.i, simd.i]}, outputs = {y: {combine: {L1.i: register}}}>)
  return
}

// What runs backwards is loaded whole and reversed; branches that lanes may take both become
// selections.
// CHECK-LABEL: func.func @reversed
// CHECK:       %[[X:.*]] = vector.load
// CHECK:       vector.shuffle %[[X]], %[[X]] [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
// CHECK:       arith.select {{.*}} : vector<16xi1>, vector<16xf32>
func.func @reversed(%x: memref<16xf32>, %y: memref<16xf32>) {
  mdh.compute (i = 16)
      out_view(y = %y[i] : memref<16xf32>)
      md_hom((%v: f32) {
        %zero = arith.constant 0.0 : f32
        %is = arith.cmpf ogt, %v, %zero : f32
        %r = scf.if %is -> (f32) {
          %root = math.sqrt %v : f32
          scf.yield %root : f32
        } else {
          scf.yield %zero : f32
        }
        mdh.yield %r : f32
      }, (cc))
      inp_view(x = %x[15 - i] : memref<16xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 16}]>)
  return
}

// An output larger than the caches goes past them where vectors are aligned; not one that is read
// too, nor a small one.
// CHECK-LABEL: func.func @large
// CHECK-SAME:    %[[X:.*]]: memref<32000000xf32>, %[[Y:.*]]: memref<32000000xf32>, %[[Z:.*]]: memref<1024xf32>
// CHECK:         %[[START:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK:         %[[ADDRESS:.*]] = arith.addi %[[START]]
// CHECK:         %[[REST:.*]] = arith.andi %[[ADDRESS]], %c63
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK-NEXT:      vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK-NEXT:    } else {
// CHECK-NEXT:      vector.store %{{.*}}, %[[Y]][%{{.*}}] : memref<32000000xf32>, vector<16xf32>
// CHECK-NOT:     nontemporal
// CHECK:         return
func.func @large(%x: memref<32000000xf32>, %y: memref<32000000xf32>, %z: memref<1024xf32>) {
  mdh.compute (i = 16)
      out_view(y = %y[i + 1000000] : memref<32000000xf32>, z = %z[i] : memref<1024xf32>)
      md_hom((%a: f32) {
          mdh.yield %a, %a : f32, f32
      }, (cc))
      inp_view(x = %x[i] : memref<32000000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 16}]>)
  mdh.compute (i = 16)
      out_view(y = %y[i] : memref<32000000xf32>)
      md_hom(id, (cc))
      inp_view(x = %y[i] : memref<32000000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 16}]>)
  return
}

// A vector that is not full does not.
// CHECK-LABEL: func.func @large_tail
// CHECK-SAME:    %[[X:.*]]: memref<32000000xf32>, %[[Y:.*]]: memref<32000000xf32>
// CHECK-NOT:     nontemporal
// CHECK:         vector.maskedstore %[[Y]]
// CHECK-NOT:     nontemporal
// CHECK:         return
func.func @large_tail(%x: memref<32000000xf32>, %y: memref<32000000xf32>) {
  mdh.compute (i = 13)
      out_view(y = %y[i] : memref<32000000xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<32000000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 16}]>)
  return
}

// Of a block of several rows, all begin with a line, or none is stored non-temporally.
// CHECK-LABEL: func.func @large_rows
// CHECK-SAME:    %{{.*}}: memref<5000x5000xf32>, %[[Y:[a-z0-9]*]]: memref<5000x8000xf32>, %[[Z:[a-z0-9]*]]: memref<8000x5000xf32>
// CHECK-COUNT-2: vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK-NOT:     nontemporal
// CHECK-COUNT-2: vector.store %{{.*}}, %[[Z]][%{{.*}}] : memref<8000x5000xf32>, vector<16xf32>
// CHECK:         vector.store %{{.*}}, %[[Z]][%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK:         return
func.func @large_rows(%x: memref<5000x5000xf32>, %y: memref<5000x8000xf32>, %z: memref<8000x5000xf32>) {
  mdh.compute (i = 2, j = 16)
      out_view(y = %y[i, j] : memref<5000x8000xf32>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : memref<5000x5000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2}, simd {j: 16}]>)
  mdh.compute (i = 2, j = 16)
      out_view(z = %z[i, j] : memref<8000x5000xf32>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : memref<5000x5000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2}, simd {j: 16}]>)
  mdh.compute (i = 1, j = 16)
      out_view(z = %z[i, j] : memref<8000x5000xf32>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : memref<5000x5000xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {j: 16}]>)
  return
}

// What a sum's loop ends with is stored non-temporally if the block has whole lines: here it has one,
// and then half of one.
// CHECK-LABEL: func.func @large_sums
// CHECK-SAME:    %[[X:.*]]: memref<4000000x8xf32>, %[[Y:.*]]: memref<4000000x32xf32>
// CHECK:         vector.store %{{.*}}, %[[Y]][%{{.*}}] {alignment = 64 : i64, nontemporal = true}
// CHECK:         vector.store %{{.*}}, %[[Y]][%{{.*}}] : memref<4000000x32xf32>, vector<8xf32>
// CHECK-NOT:     nontemporal
// CHECK:         return
func.func @large_sums(%x: memref<4000000x8xf32>, %y: memref<4000000x32xf32>) {
  mdh.compute (j = 16, k = 8)
      out_view(y = %y[0, j] : memref<4000000x32xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[j, k] : memref<4000000x8xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {k: 8}, simd {j: 16}]>)
  mdh.compute (j = 8, k = 100)
      out_view(y = %y[0, j] : memref<4000000x32xf32>)
      md_hom(id, (cc, pw(addf)))
      inp_view(x = %x[k, j] : memref<4000000x8xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {k: 100}, simd {j: 8}]>)
  return
}

// Without lanes, loops of scalar code stay as they are.
// CHECK-LABEL: func.func @scalar_loops
// CHECK:         scf.for {{.*}} -> (f32)
// CHECK:         scf.for {{.*}} -> (f32)
// CHECK:         scf.while {{.*}} : (f32) -> f32
// CHECK-NOT:     vector
// CHECK:         return
func.func @scalar_loops(%x: memref<2xf32>, %y: memref<2xf32>) {
  mdh.compute (i = 2)
      out_view(y = %y[i] : memref<2xf32>)
      md_hom((%a: f32) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c5 = arith.constant 5 : index
        %p = scf.for %k = %c0 to %c5 step %c1 iter_args(%q = %a) -> (f32) {
          %next = arith.mulf %q, %a : f32
          scf.yield %next : f32
        }
        mdh.yield %p : f32
      }, (cc))
      inp_view(x = %x[i] : memref<2xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2}]>)
  mdh.compute (i = 1)
      out_view(y = %y[i] : memref<2xf32>)
      md_hom((%a: f32) {
        %most = arith.constant 9.0 : f32
        %p = scf.while (%q = %a) : (f32) -> f32 {
          %more = arith.cmpf olt, %q, %most : f32
          scf.condition(%more) %q : f32
        } do {
        ^bb0(%q: f32):
          %next = arith.addf %q, %most : f32
          scf.yield %next : f32
        }
        mdh.yield %p : f32
      }, (cc))
      inp_view(x = %x[i] : memref<2xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {i: 1}]>)
  return
}

// Lanes along one dimension, neighbours in memory along another one: rows are read, and transposed
// within 128 bits and then in parts of these.
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-4: vector.load %{{.*}} : memref<4x4xf64>, vector<4xf64>
// CHECK:         vector.shuffle %[[R0:.*]], %[[R1:.*]] [0, 4, 2, 6]
// CHECK-NEXT:    vector.shuffle %[[R0]], %[[R1]] [1, 5, 3, 7]
// CHECK-NEXT:    vector.shuffle %[[R2:.*]], %[[R3:.*]] [0, 4, 2, 6]
// CHECK-NEXT:    vector.shuffle %[[R2]], %[[R3]] [1, 5, 3, 7]
// CHECK-COUNT-2: vector.shuffle {{.*}} [0, 1, 4, 5]
// CHECK-COUNT-2: vector.shuffle {{.*}} [2, 3, 6, 7]
// CHECK-COUNT-4: vector.store %{{.*}} : memref<4x4xf64>, vector<4xf64>
// CHECK-NEXT:    return
func.func @transposed(%x: memref<4x4xf64>, %y: memref<4x4xf64>) {
  mdh.compute (i = 4, j = 4)
      out_view(y = %y[j, i] : memref<4x4xf64>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : memref<4x4xf64>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {j: 4}, simd {i: 4}]>)
  return
}

// Of a block that is not full, rows that are not there are those that are, and what lies behind
// them is masked.
// CHECK-LABEL: func.func @transposed_rest
// CHECK-NOT:     memref.load
// CHECK-COUNT-3: vector.maskedload %{{.*}} : memref<3x2xf64>
// CHECK-NOT:     memref.load
// CHECK-COUNT-2: vector.maskedstore %{{.*}} : memref<2x3xf64>
// CHECK-NOT:     vector.maskedstore
// CHECK:         return
func.func @transposed_rest(%x: memref<3x2xf64>, %y: memref<2x3xf64>) {
  mdh.compute (i = 3, j = 2)
      out_view(y = %y[j, i] : memref<2x3xf64>)
      md_hom(id, (cc, cc))
      inp_view(x = %x[i, j] : memref<3x2xf64>)
      schedule(#mdh.schedule<asm = cpu, layers = [register {j: 4}, simd {i: 4}]>)
  return
}

// Lanes whose elements are strided are stored by one operation, also where not all of them have a
// point; what is masked is read by one, too.
// CHECK-LABEL: func.func @apart
// CHECK-DAG:   %[[APART:.*]] = arith.constant dense<[0, 6, 12, 18, 24, 30, 36, 42]> : vector<8xi32>
// CHECK-DAG:   %[[ALL:.*]] = arith.constant dense<true> : vector<8xi1>
// CHECK:       vector.scatter %{{.*}}[%c0, %c4] [%[[APART]]], %[[ALL]], %{{.*}}
// CHECK:       %[[MASK:.*]] = vector.constant_mask [5] : vector<8xi1>
// CHECK:       %[[READ:.*]] = vector.gather %{{.*}}[%c0, %c5] [%[[APART]]], %[[MASK]]
// CHECK:       vector.scatter %{{.*}}[%c0, %c4] [%[[APART]]], %[[MASK]], %[[READ]]
func.func @apart(%x: memref<20x6xf64>, %y: memref<20x6xf64>, %z: memref<20x6xf64>) {
  mdh.compute (i = 8)
      out_view(y = %y[i, 4] : memref<20x6xf64>)
      md_hom(id, (cc))
      inp_view(x = %x[i, 5] : memref<20x6xf64>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 8}]>)
  mdh.compute (i = 5)
      out_view(z = %z[i, 4] : memref<20x6xf64>)
      md_hom(id, (cc))
      inp_view(x = %x[i, 5] : memref<20x6xf64>)
      schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 8}]>)
  return
}

// -----

// CHECK-LABEL: func.func @loops
// CHECK-NOT:   vector
// CHECK:       mdh.compute (k = 8)
func.func @loops(%x: memref<8xi32>, %y: memref<i32>) {
  // expected-remark @+1 {{stays scalar: its combine operator has a loop}}
  mdh.compute (k = 8)
      out_view(y = %y[] : memref<i32>)
      md_hom(id, (pw(halves)))
      inp_view(x = %x[k] : memref<8xi32>)
      combine halves associative (%a: i32, %b: i32) {
        %one = arith.constant 1 : i32
        %n = scf.while (%n = %a) : (i32) -> i32 {
          %more = arith.cmpi sgt, %n, %b : i32
          scf.condition(%more) %n : i32
        } do {
        ^bb0(%n: i32):
          %half = arith.shrsi %n, %one : i32
          scf.yield %half : i32
        }
        mdh.yield %n : i32
      }
      schedule(#mdh.schedule<asm = cpu, layers = [simd {k: 8}]>)
  return
}

// -----

func.func @tiles(%x: memref<64xf32>, %y: memref<64xf32>) {
  // expected-error @+1 {{has a schedule with the level 'L1.i' outside of registers: expected registers and lanes only; run mdh-tile first}}
  mdh.compute (i = 64)
      out_view(y = %y[i] : memref<64xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<64xf32>)
      schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return
}

// -----

// A dimension that the output has no place for has one point at most: the first lane's of the first part, which alone is
// stored, if it is there.
// CHECK-LABEL: func.func @single
// CHECK:         %[[COUNT:.*]] = arith.maxsi
// CHECK:         %[[FIRST:.*]] = arith.cmpi sgt, %[[COUNT]], %c0
// CHECK:         } else {
// CHECK:         %[[REST:.*]] = arith.subi %[[COUNT]], %c16
// CHECK:         scf.if %[[FIRST]] {
// CHECK-NEXT:      memref.store %{{.*}}, %{{.*}}[%c0] : memref<1xf32>
// CHECK:         %[[SECOND:.*]] = arith.cmpi sgt, %[[REST]], %c0
// CHECK-NEXT:    scf.if %[[SECOND]] {
// CHECK-NEXT:      memref.store %{{.*}}, %{{.*}}[%c0] : memref<1xf32>
func.func @single(%x: memref<?xf32>, %n: index, %y: memref<1xf32>) {
  mdh.compute (j = %n)
    out_view(y = %y[0] : memref<1xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[j] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [register {j: 2}, simd {j: 16}]>)
  return
}
