// Computations as triples, and back: what is formed from them is what there was.
//
// RUN: not mdh-opt %S/Inputs/wordless.mlir --split-input-file --mdh-to-triple 2>&1 | FileCheck %s --check-prefix WORDLESS
// WORDLESS: wordless.mlir:3:3: error: 'mdh.compute' op says what threads do of it, for which a triple has no words: expected a computation before mdh-tile
// WORDLESS: wordless.mlir:14:3: error: 'mdh.compute' op says that it runs in place, for which a triple has no words: expected a computation before mdh-tile
//
// RUN: mdh-opt %s --mdh-to-triple | FileCheck %s --implicit-check-not mdh.compute
// RUN: mdh-opt %s -o %t.compute
// RUN: mdh-opt %s --mdh-to-triple --mdh-form-compute --symbol-dce -o %t.formed
// RUN: diff %t.compute %t.formed
// RUN: mdh-opt %s --mdh-to-triple | mdh-opt --mdh-form-compute --symbol-dce -o %t.formed
// RUN: diff %t.compute %t.formed

// CHECK-LABEL: @matvec
// CHECK:      %[[MDA:.*]] = mdh.inp_view (i = 8, k = 5) (M = %{{.*}}[i, k] : tensor<8x5xf32>, v = %{{.*}}[k] : tensor<5xf32>) : !mdh.mda<8x5, f32, f32>
// CHECK-NEXT: %[[HOM:.*]] = mdh.hom(mulf, (cc, pw(addf))) %[[MDA]] : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
// CHECK-NEXT: %[[W:.*]] = mdh.out_view (i, k) %[[HOM]] -> (w = %{{.*}}[i] : tensor<8xf32>) : !mdh.mda<8x1, f32>
// CHECK-NEXT: return %[[W]]
func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mdh.compute (i = 8, k = 5)
    out_view(w = %w[i] : tensor<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : tensor<8x5xf32>, v = %v[k] : tensor<5xf32>)
  return %0 : tensor<8xf32>
}

// Carries, padding, origins, skipped components, several outputs and accesses, attributes, an
// operator of one's own.
// CHECK:       mdh.combine private @wins commutative associative neutral(0.000000e+00 : f32, 1 : i64)
// CHECK-LABEL: @all_of_it
// CHECK:       mdh.inp_view (i = 2 to 8 step 2, j = 3, k = %{{.*}})
// CHECK-SAME:  : !mdh.mda<3x3x?, f32, f32, f32, f16>
// CHECK:       }, (cc, pw(@wins), ps(@wins))) %{{.*}} : !mdh.mda<3x3x?, f32, f32, f32, f16> -> !mdh.mda<3x1x?, f32, i64>
// CHECK:       mdh.out_view (i, j, k)
// CHECK-NEXT:  carry j (
// CHECK-NEXT:  carry k (
func.func @all_of_it(%M: tensor<8x?xf32>, %v: tensor<?xf32>, %n: index, %c: tensor<8xf32>,
                     %d: tensor<8xi64>, %e: tensor<8x?xf32>, %f: tensor<8x?xi64>, %there: i1,
                     %init: tensor<8x?xf64>, %s: f16)
    -> (tensor<8x?xf64>, tensor<8x?xi64>, tensor<8xf32>, tensor<8xi64>) {
  %0:4 = mdh.compute (i = 2 to 8 step 2, j = 3, k = %n)
    out_view(w = %init[7 - i, k] origin(-1, %n) : tensor<8x?xf64>, x = %f[i, k] : tensor<8x?xi64>)
    md_hom((%a: f32, %x: f32, %y: f32, %z: f16) {
      %k = mdh.index 2 : index
      %k64 = arith.index_cast %k : index to i64
      %p = arith.mulf %a, %x : f32
      mdh.yield %p, %k64 : f32, i64
    }, (cc, pw(wins), ps(wins)))
    inp_view(M = %M[i, k] : tensor<8x?xf32>,
             v = %v[k * 2 - j][k floordiv 3] origin(%n) pad(0.0 : f32) : tensor<?xf32>,
             s = %s[] : f16)
    combine wins commutative associative neutral(0.0 : f32, 1 : i64)
        (%w0: f32, %j0: i64, %w1: f32, %j1: i64) {
      mdh.yield %w0, %j0 : f32, i64
    }
    carry j (a = %e[i, k] : tensor<8x?xf32>, b = %f[i, k] : tensor<8x?xi64>)
    carry k (a2 = %c[i] origin(1) : tensor<8xf32>, b2 = %d[i] : tensor<8xi64>) valid %there
      -> (a3 = %c[i] : tensor<8xf32>, b3 = %d[i] : tensor<8xi64>)
    {tag = 1}
  return %0#0, %0#1, %0#2, %0#3 : tensor<8x?xf64>, tensor<8x?xi64>, tensor<8xf32>, tensor<8xi64>
}

// What is no computation stays.
// Silent: it has no parts.
// CHECK-LABEL: @none
// CHECK-NEXT:  return
func.func @none(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
