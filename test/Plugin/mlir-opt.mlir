// The stock mlir-opt with our library: dialect, passes, pipelines.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %examples/matmul.mlir \
// RUN:   --pass-pipeline="builtin.module(mdh-lower{target=cuda stage=device})" | FileCheck %s --check-prefix DEVICE
// DEVICE: gpu.module
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %examples/matmul.mlir \
// RUN:   --pass-pipeline="builtin.module(mdh-lower{target=cpu stage=tiles checks=false})" | FileCheck %s --check-prefix TILES
// TILES: scf.forall
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s \
// RUN:   --pass-pipeline="builtin.module(mdh-form,mdh-simplify,mdh-bufferize,mdh-loops,mdh-llvm)" \
// RUN:   | FileCheck %s --implicit-check-not mdh.
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %examples/matvec.mlir \
// RUN:   --pass-pipeline="builtin.module(mdh-form,mdh-checks,mdh-simplify,mdh-bufferize,mdh-loops,mdh-llvm)" \
// RUN:   | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix LLVM
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s \
// RUN:   --pass-pipeline="builtin.module(mdh-form-compute,mdh-to-triple)" \
// RUN:   | FileCheck %s --check-prefix TRIPLE
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %s --canonicalize --emit-bytecode \
// RUN:   | mdh-opt | FileCheck %s --check-prefix TRIPLE --implicit-check-not extract_slice

// CHECK: llvm.func @matvec(
// CHECK: llvm.fmul
// CHECK: llvm.fadd
// LLVM: define void @matvec(
// LLVM: fmul float
// LLVM: fadd reassoc float
// TRIPLE: mdh.inp_view
// TRIPLE-NEXT: mdh.hom(mulf, (cc, pw(addf)))
// TRIPLE-NEXT: mdh.out_view
func.func @matvec(%M: tensor<8x5xf32>, %u: tensor<9xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %v = tensor.extract_slice %u[2] [5] [1] : tensor<9xf32> to tensor<5xf32>
  %mda = mdh.inp_view (i = 8, k = 5) (%M[i, k] : tensor<8x5xf32>, %v[k] : tensor<5xf32>)
       : !mdh.mda<8x5, f32, f32>
  %prod = mdh.hom(mulf, (cc, pw(addf))) %mda : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
  %w = mdh.out_view (i, k) %prod -> (w = %init[i] : tensor<8xf32>) : !mdh.mda<8x1, f32>
  return %w : tensor<8xf32>
}
