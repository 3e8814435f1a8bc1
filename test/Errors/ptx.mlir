// What has no code on a device, chips that there are not, and programs without kernels.
//
// RUN: not mdh compile %s --entry angle --emit ptx 2>&1 | FileCheck %s --check-prefix ANGLE
// RUN: not mdh compile %s --entry none --emit ptx 2>&1 | FileCheck %s --check-prefix NONE
// RUN: not mdh compile %s --entry none --emit ptx --chip h200 2>&1 | FileCheck %s --check-prefix CHIP
// RUN: not mdh compile %s --entry none --emit asm --chip sm_90 2>&1 | FileCheck %s --check-prefix STAGE
// RUN: not mdh-opt %s --mdh-schedule=asm=tpu 2>&1 | FileCheck %s --check-prefix ASM
// ASM:   option 'asm' of mdh-schedule: cannot read 'tpu': {{.*}}; expected a file as `mdh asm --json` writes it, or one of cpu, cuda, opencl, multi_cuda, cluster_multi_cuda
// CHIP:  --chip: found 'h200': expected a compute capability, such as sm_80, sm_90a or sm_100
// STAGE: --chip is for kernels: expected --emit ptx
// NONE:  error: there is no kernel: no computation has a schedule of blocks and threads
func.func @none(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<8xf32>
  return %v : f32
}

// ANGLE: error: 'math.atan2' op has no code on a device: expected one of math.atan, math.cosh, math.erf
func.func @angle(%x: memref<64xf32>, %y: memref<64xf32>) {
  mdh.compute (i = 64)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom((%a: f32, %b: f32) {
      %0 = math.atan2 %a, %b : f32
      mdh.yield %0 : f32
    }, (cc))
    inp_view(x = %x[i][63 - i] : memref<64xf32>)
  return
}
