// What has no code on a device, chips that there are not, and programs without kernels.
//
// RUN: not mdh compile %s --entry angle --emit ptx 2>&1 | FileCheck %s --check-prefix ANGLE
// RUN: not mdh compile %s --entry none --emit ptx 2>&1 | FileCheck %s --check-prefix NONE
// RUN: not mdh compile %s --entry none --emit ptx --chip h20 2>&1 | FileCheck %s --check-prefix CHIP
// RUN: not mdh compile %s --entry none --emit ptx --chip sm_62 2>&1 | FileCheck %s --check-prefix OLD
// RUN: not mdh compile %s --entry none --emit ptx --chip sm_80a 2>&1 | FileCheck %s --check-prefix OLD
// RUN: mdh compile %S/../../examples/matvec.mlir --emit ptx --chip sm_70 | FileCheck %s --check-prefix FIRST
// RUN: mdh compile %S/../../examples/matvec.mlir --emit ptx --chip sm_121a | FileCheck %s --check-prefix LAST
// RUN: mdh compile %S/../../examples/matvec.mlir --emit ptx --chip h100 | FileCheck %s --check-prefix H100
// RUN: mdh compile %S/../../examples/matvec.mlir --emit ptx --device h200 | FileCheck %s --check-prefix H100
// RUN: not mdh compile %s --entry none --emit ptx --device a100 --chip sm_90 2>&1 | FileCheck %s --check-prefix TWO
// RUN: not mdh compile %s --entry none --emit asm --asm cuda 2>&1 | FileCheck %s --check-prefix CODE
// RUN: not mdh compile %s --entry none --emit asm --chip sm_90 2>&1 | FileCheck %s --check-prefix STAGE
// RUN: not mdh-opt %s --mdh-schedule=asm=tpu 2>&1 | FileCheck %s --check-prefix ASM
// ASM:   option 'asm' of mdh-schedule: cannot read 'tpu': {{.*}}; expected a file as `mdh asm --json` writes it, or one of cpu, cuda, opencl, multi_cuda, cluster_multi_cuda
// CHIP:  --chip: found 'h20': expected a compute capability, such as sm_80, sm_90a or sm_100, or a GPU: a100, h100, h200, b200
// OLD:   --chip: found 'sm_{{62|80a}}', which there is no code for: expected one of sm_70, sm_72, sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90[a], sm_100[a], sm_101[a], sm_103[a], sm_110[a], sm_120[a], sm_121[a]
// FIRST: .target sm_70
// LAST:  .target sm_121a
// H100:  .target sm_90a
// TWO:   --chip: found sm_90, and a device whose chip is sm_80: expected one of them
// CODE:  --asm: found --emit asm, which is code for this machine's processor
// STAGE: --chip is for kernels: expected --emit ptx
// NONE:  error: there is no kernel: no computation has a schedule of blocks and threads
func.func @none(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<8xf32>
  return %v : f32
}

// ANGLE: ptx.mlir:[[#@LINE+8]]:{{.*}}error: 'math.sin' op has no code on a device: expected one of math.acos, {{.*}}, of f16, bf16, f32 or f64
func.func @angle(%x: f128, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = gpu.alloc () : memref<1xf32>
  gpu.memcpy %a, %y : memref<1xf32>, memref<1xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // No machine has so many digits.
    %0 = math.sin %x : f128
    %1 = arith.truncf %0 : f128 to f32
    memref.store %1, %a[%c0] : memref<1xf32>
    gpu.terminator
  }
  gpu.memcpy %y, %a : memref<1xf32>, memref<1xf32>
  gpu.dealloc %a : memref<1xf32>
  return
}
