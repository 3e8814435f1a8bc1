// An output larger than the caches is stored past them by two threads: at once where its rows are
// aligned, in the caches where they are not. What other threads do next sees it.
//
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s
// RUN: sed 's/4224x4096/4352x4095/g; s/i = 4224/i = 4352/; s/j = 4096/j = 4095/' %s > %t.mlir
// RUN: mdh run %t.mlir --entry rows --random 1 --check | FileCheck %s
// RUN: mdh compile %s --emit llvm | FileCheck %s --check-prefix LLVM

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
