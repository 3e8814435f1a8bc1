// An output larger than the caches is stored past them by two threads: vector by vector where its
// rows are aligned, in words where they are not. What other threads do next sees it. So is one of a
// sum whose blocks write whole lines, and of prefix-sums.
//
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s
// RUN: sed 's/4224x4096/4352x4095/g; s/i = 4224/i = 4352/; s/j = 4096/j = 4095/' %s > %t.mlir
// RUN: mdh run %t.mlir --entry rows --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry products --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry prefixes --random 1 --range 0.5..1.5 --check | FileCheck %s
// RUN: mdh compile %s --entry rows --emit llvm | FileCheck %s --check-prefix LLVM
// RUN: mdh compile %s --entry prefixes --emit tiles | FileCheck %s --check-prefix PARTS

// CHECK: check passed: {{[0-9]+}} of {{[0-9]+}} elements compared

// LLVM-LABEL: define {{.*}}@mdh.rows_parallel(
// LLVM:         store <{{[0-9]+}} x float> %{{.*}}, align {{[0-9]+}}, !nontemporal
// LLVM:         fence seq_cst
// LLVM-NEXT:    ret void
func.func @rows(%x: tensor<4224x4096xf32>) -> tensor<4224x4096xf32> {
  %init = tensor.empty() : tensor<4224x4096xf32>
  %points = mdh.inp_view (i = 4224, j = 4096) (%x[i, j] : tensor<4224x4096xf32>)
          : !mdh.mda<4224x4096, f32>
  %all = mdh.hom((%a: f32) {
      %twice = arith.addf %a, %a : f32
      mdh.yield %twice : f32
  }, (cc, cc)) %points : !mdh.mda<4224x4096, f32> -> !mdh.mda<4224x4096, f32>
  %y = mdh.out_view (i, j) %all -> (y = %init[i, j] : tensor<4224x4096xf32>)
      : !mdh.mda<4224x4096, f32>
  return %y : tensor<4224x4096xf32>
}

func.func @products(%a: tensor<2048x3xf32>, %b: tensor<3x8192xf32>) -> tensor<2048x8192xf32> {
  %init = tensor.empty() : tensor<2048x8192xf32>
  %points = mdh.inp_view (i = 2048, j = 8192, k = 3)
      (%a[i, k] : tensor<2048x3xf32>, %b[k, j] : tensor<3x8192xf32>) : !mdh.mda<2048x8192x3, f32, f32>
  %all = mdh.hom((%x: f32, %y: f32) {
      %xy = arith.mulf %x, %y : f32
      mdh.yield %xy : f32
  }, (cc, cc, pw(addf))) %points : !mdh.mda<2048x8192x3, f32, f32> -> !mdh.mda<2048x8192x1, f32>
  %c = mdh.out_view (i, j, k) %all -> (c = %init[i, j] : tensor<2048x8192xf32>)
      : !mdh.mda<2048x8192x1, f32>
  return %c : tensor<2048x8192xf32>
}

// The combination of each core's part has loops of its own: several sums in registers.
// PARTS-LABEL: func.func @prefixes
// PARTS:         scf.forall
// PARTS:           md_hom(id, (pw(addf)))
// PARTS:           register {i: {{[2-9]}}}
// PARTS:         md_hom(id, (ps(addf)))
// PARTS:         scf.forall
// PARTS:           md_hom(id, (ps(addf)))
func.func @prefixes(%x: tensor<8388613xf32>) -> tensor<8388613xf32> {
  %init = tensor.empty() : tensor<8388613xf32>
  %points = mdh.inp_view (i = 8388613) (%x[i] : tensor<8388613xf32>) : !mdh.mda<8388613, f32>
  %all = mdh.hom(id, (ps(addf))) %points : !mdh.mda<8388613, f32> -> !mdh.mda<8388613, f32>
  %y = mdh.out_view (i) %all -> (y = %init[i] : tensor<8388613xf32>) : !mdh.mda<8388613, f32>
  return %y : tensor<8388613xf32>
}
