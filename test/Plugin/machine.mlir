// The stock mlir-opt with our library schedules for the machine that it runs on, as mdh does, or for the
// one in a file; mistakes in a file have their place.
//
// DEFINE: %{opt} = mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s
// RUN: env MDH_ASM=%S/../Inputs/avx2.json %{opt} --pass-pipeline="builtin.module(mdh-default-schedules)" | FileCheck %s --check-prefix AVX2
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh compile %s --emit scheduled | FileCheck %s --check-prefix AVX2
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh-opt %s --mdh-schedule | FileCheck %s --check-prefix AVX2
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh asm | FileCheck %s --check-prefix ASM
// RUN: %{opt} --pass-pipeline="builtin.module(mdh-default-schedules{asm=%S/../Inputs/avx2.json})" | FileCheck %s --check-prefix AVX2
// RUN: %{opt} --pass-pipeline="builtin.module(mdh-schedule{asm=%S/../Inputs/avx2.json})" | FileCheck %s --check-prefix AVX2
// RUN: %{opt} --pass-pipeline="builtin.module(mdh-schedule{asm=%S/../Inputs/avx2.json cores=3})" | FileCheck %s --check-prefix THREE
// RUN: mdh-opt %s --mdh-default-schedules=asm=%S/../Inputs/avx512.json | FileCheck %s --check-prefix AVX512
// RUN: rm -rf "%t folder" && mkdir "%t folder" && cp %S/../Inputs/avx512.json "%t folder/a machine.json"
// RUN: %{opt} --pass-pipeline="builtin.module(mdh-default-schedules{asm='%t folder/a machine.json'})" | FileCheck %s --check-prefix AVX512
//
// AVX2: core {i: 6}
// AVX2: simd {{{.*}}: 8}
// THREE: core {i: 3}
// AVX512: core {i: 2}
// AVX512: simd {{{.*}}: 16}
// ASM: core {{.*}} 6 of them
//
// RUN: not %{opt} --pass-pipeline="builtin.module(mdh-default-schedules{asm=%t.none.json})" 2>&1 | FileCheck %s --check-prefix NONE
// NONE: error: {{.*}}option 'asm' of mdh-{{.*}}: cannot read '{{.*}}.none.json': No such file or directory
// NONE-SAME: expected a file as `mdh asm --json` writes it, or one of cpu, cuda,
// RUN: echo '{"name": "cpu", "layers": 3}' > %t.wrong.json
// RUN: not %{opt} --pass-pipeline="builtin.module(mdh-schedule{asm=%t.wrong.json})" 2>&1 | FileCheck %s --check-prefix WRONG
// WRONG: error: {{.*}}option 'asm' of mdh-schedule: {{.*}}.wrong.json:1:27: invalid type: integer `3`, expected a sequence
// RUN: not %{opt} --pass-pipeline="builtin.module(mdh-vectors{asm=opencl})" 2>&1 | FileCheck %s --check-prefix OPENCL
// OPENCL: error: {{.*}}option 'asm' of mdh-vectorize: 'opencl' has neither cores with vector lanes nor blocks of threads
// RUN: env MDH_ASM=%t.none.json not mdh compile %s --emit scheduled 2>&1 | FileCheck %s --check-prefix PRETENDED
// PRETENDED: error: MDH_ASM: cannot read '{{.*}}.none.json'
func.func @matvec(%M: memref<4096x4096xf32>, %v: memref<4096xf32>, %w: memref<4096xf32>) {
  mdh.compute (i = 4096, k = 4096)
    out_view(w = %w[i] : memref<4096xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : memref<4096x4096xf32>, v = %v[k] : memref<4096xf32>)
  return
}
