// Triples become computations.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-form-compute | FileCheck %s --implicit-check-not mdh.inp_view --implicit-check-not "mdh.hom("
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-form-compute | mdh-opt --split-input-file | FileCheck %s

// An out_view directly on an inp_view: id over all of it.
// CHECK-LABEL: @transpose
// CHECK:      mdh.compute (i = 4, j = 6)
// CHECK-NEXT:   out_view(y = %arg1[j, i] : tensor<6x4xi8>)
// CHECK-NEXT:   md_hom(id, (cc, cc))
// CHECK-NEXT:   inp_view(x = %arg0[i, j] : tensor<4x6xi8>)
func.func @transpose(%x: tensor<4x6xi8>, %y: tensor<6x4xi8>) -> tensor<6x4xi8> {
  %mda = mdh.inp_view (i = 4, j = 6) (%x[i, j] : tensor<4x6xi8>) : !mdh.mda<4x6, i8>
  %w = mdh.out_view (a, b) %mda -> (%y[b, a] : tensor<6x4xi8>) : !mdh.mda<4x6, i8>
  return %w : tensor<6x4xi8>
}

// A user's operator with its laws; everything that an out_view says.
// CHECK-LABEL: @latest
// CHECK:      mdh.compute (i = 8, k = %{{.*}} to 9 step 4 width 3)
// CHECK-NEXT:   out_view(_, at = %{{.*}}[7 - i] : tensor<8xindex>)
// CHECK-NEXT:   md_hom((%[[X:.*]]: f32) {
// CHECK-NEXT:     %[[K:.*]] = mdh.index 1 : index
// CHECK-NEXT:     %[[K64:.*]] = arith.index_cast %[[K]] : index to i64
// CHECK-NEXT:     mdh.yield %[[X]], %[[K64]] : f32, i64
// CHECK-NEXT:   }, (cc, pw(last)))
// CHECK-NEXT:   inp_view(x = %{{.*}}[i, k - 1] origin(0, -1) pad(0.000000e+00 : f32) : tensor<8x10xf32>)
// CHECK-NEXT:   combine last associative neutral(0.000000e+00 : f32, -1 : i64) (%{{.*}}: f32, %{{.*}}: i64, %[[B:.*]]: f32, %[[J:.*]]: i64) {
// CHECK-NEXT:     mdh.yield %[[B]], %[[J]] : f32, i64
// CHECK-NEXT:   }
// CHECK-NEXT:   carry k (c = %{{.*}}[i] : tensor<8xf32>, d = %{{.*}}[i] : tensor<8xi64>) valid %{{.*}} -> (e = %{{.*}}[i] : tensor<8xf32>, f = %{{.*}}[i] : tensor<8xi64>) {tag}
func.func @latest(%x: tensor<8x10xf32>, %lo: index, %at: tensor<8xindex>, %c: tensor<8xf32>,
                  %d: tensor<8xi64>, %there: i1)
    -> (tensor<8xindex>, tensor<8xf32>, tensor<8xi64>) {
  %mda = mdh.inp_view (i = 8, k = %lo to 9 step 4 width 3)
      (%x[i, k - 1] origin(0, -1) pad(0.0 : f32) : tensor<8x10xf32>) : !mdh.mda<8x?, f32>
  %hom = mdh.hom((%a: f32) {
    %k = mdh.index 1 : index
    %k64 = arith.index_cast %k : index to i64
    mdh.yield %a, %k64 : f32, i64
  }, (cc, pw(@last))) %mda : !mdh.mda<8x?, f32> -> !mdh.mda<8x1, f32, i64>
  %0:3 = mdh.out_view (i, k) %hom -> (_, %at[7 - i] : tensor<8xindex>)
    carry k (%c[i] : tensor<8xf32>, %d[i] : tensor<8xi64>) valid %there
      -> (e = %c[i] : tensor<8xf32>, f = %d[i] : tensor<8xi64>) {tag} : !mdh.mda<8x1, f32, i64>
  return %0#0, %0#1, %0#2 : tensor<8xindex>, tensor<8xf32>, tensor<8xi64>
}
// CHECK: mdh.combine @last
mdh.combine @last associative neutral(0.0 : f32, -1 : i64)
    (%a: f32, %i: i64, %b: f32, %j: i64) {
  mdh.yield %b, %j : f32, i64
}

// What a scalar function uses from outside: constants are copied, scalars become inputs.
// CHECK-LABEL: @captured
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[S:.*]]: f32, %[[Y:.*]]: tensor<8xf32>
// CHECK:        md_hom((%[[A:.*]]: f32, %[[T:.*]]: f32) {
// CHECK-NEXT:     %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT:     %[[B:.*]] = arith.mulf %[[A]], %[[TWO]] : f32
// CHECK:          %[[IF:.*]] = scf.if
// CHECK:            scf.yield %[[T]] : f32
// CHECK:        }, (cc))
// CHECK-NEXT:   inp_view(x = %[[X]][i] : tensor<8xf32>, scalar = %[[S]][] : f32)
func.func @captured(%x: tensor<8xf32>, %s: f32, %y: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant 2.0 : f32
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    %b = arith.mulf %a, %two : f32
    %is_small = arith.cmpf olt, %b, %s : f32
    %c = scf.if %is_small -> (f32) {
      scf.yield %s : f32
    } else {
      scf.yield %b : f32
    }
    mdh.yield %c : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  %w = mdh.out_view (i) %hom -> (%y[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %w : tensor<8xf32>
}

// An MDA with two uses, one without; a name that the input has already.
// CHECK-LABEL: @uses
// CHECK-COUNT-2: mdh.compute
// CHECK:   out_view(x_1 = %{{.*}}[i] : memref<8xf32>)
// CHECK-NOT: mdh.compute
// CHECK: return
func.func @uses(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom(id, (ps(addf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  mdh.out_view (i) %hom -> (%y[i] : memref<8xf32>) : !mdh.mda<8, f32>
  mdh.out_view (i) %hom -> (x = %z[i] : memref<8xf32>) : !mdh.mda<8, f32>
  %dead = mdh.hom(id, (ps(mulf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  return
}

// Names of operators that would not be read back as labels.
// CHECK-LABEL: @names
// CHECK: md_hom(id, (pw(_addf)))
// CHECK: combine _addf associative
// CHECK: md_hom(id, (pw(no_word)))
// CHECK: combine no_word associative
func.func @names(%x: memref<8xf32>, %y: memref<f32>) {
  %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
  %a = mdh.hom(id, (pw(@addf))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  mdh.out_view (i) %a -> (%y[] : memref<f32>) : !mdh.mda<1, f32>
  %b = mdh.hom(id, (pw(@"no word"))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  mdh.out_view (i) %b -> (%y[] : memref<f32>) : !mdh.mda<1, f32>
  return
}
mdh.combine @addf associative (%a: f32, %b: f32) {
  mdh.yield %b : f32
}
mdh.combine @"no word" associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}

// Regions of other operations, symbol tables inside of the module.
// CHECK-LABEL: module @inner
// CHECK: scf.for
// CHECK-NEXT: mdh.compute (i = 8)
module @inner {
  func.func @loop(%x: memref<8xf32>, %y: memref<f32>, %n: index) {
    scf.for %i = %n to %n step %n {
      %mda = mdh.inp_view (i = 8) (%x[i] : memref<8xf32>) : !mdh.mda<8, f32>
      %a = mdh.hom(id, (pw(@"no word"))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
      mdh.out_view (i) %a -> (%y[] : memref<f32>) : !mdh.mda<1, f32>
    }
    return
  }
}

// -----

// What nobody stores is no computation.
// Silent: it has no effect.
// CHECK-LABEL: @unused
// CHECK-NEXT:  return
func.func @unused(%x: tensor<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return
}

// -----

// The verifier refuses what is no triple, before any pass looks at it.
func.func @both(%x: tensor<8xf32>, %y: memref<8xf32>) {
  %mda = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  // expected-error @+1 {{'mdh.out_view' op writes memrefs, but its MDA reads 'x' of type tensor<8xf32>: expected one kind for all buffers of a computation; bufferize the tensors, or use bufferization.to_tensor on the memrefs}}
  mdh.out_view (i) %mda -> (y = %y[i] : memref<8xf32>) : !mdh.mda<8, f32>
  return
}
