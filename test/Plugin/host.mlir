// Programs that load the plugin without mlir-opt: pipelines whose passes are not registered are errors
// that say which, others run, and with everything registered all do.
//
// RUN: %clangxx -std=c++17 -O0 -fno-exceptions -fno-rtti -DNDEBUG -isystem %llvm/include %S/Inputs/host.cpp \
// RUN:   -L %llvm/lib -lMLIR -lLLVM-22 -Wl,-rpath,%llvm/lib -o %t.host
// RUN: not %t.host %mdh_plugin %s mdh-bufferize 2>&1 | FileCheck %s --check-prefix MISSING --implicit-check-not bug
// RUN: %t.host %mdh_plugin %s mdh-form | FileCheck %s --check-prefix FORMED
// RUN: %t.host %mdh_plugin %s mdh-form,mdh-bufferize,mdh-default-schedules,mdh-loops all | FileCheck %s
// RUN: %t.host %mdh_plugin %s "mdh-form,mdh-bufferize,mdh-default-schedules{asm=cuda}" all | FileCheck %s --check-prefix CUDA
// RUN: not %t.host %mdh_plugin %s "mdh-form{asm=cpu}" all 2>&1 | FileCheck %s --check-prefix OPTION

// MISSING: the pipeline 'mdh-bufferize' needs passes that this program has not registered: one-shot-bufferize, buffer-results-to-out-params, canonicalize, cse; call mlir::registerAllPasses(), or register these, before it asks for the pipeline
// FORMED: mdh.compute
// CHECK-NOT: mdh.
// CHECK: scf.for
// CHECK-NOT: mdh.
// CUDA: asm = cuda
// OPTION: no such option asm
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %same = mdh.hom(id, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  %y = mdh.out_view (i) %same -> (y = %init[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %y : tensor<8xf32>
}
