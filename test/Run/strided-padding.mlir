// Strided lanes that may read padding: of every stride, backwards, along columns, of every type, in blocks
// that are not full, and of sizes that a run tells, also of none.
//
// RUN: mdh run %s --entry twos --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry threes --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry fours --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry fives --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry backwards --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry bytes --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry far_bytes --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry halves --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry far_halves --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry truths --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry indices --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry columns --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry diagonals --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry depthwise --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_bytes --in m=5 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_bytes --in m=5 n=17 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_bytes --in m=2 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_bytes --in m=0 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_bytes --in m=5 n=0 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_floats --in m=5 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_floats --in m=5 n=17 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_floats --in m=2 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_floats --in m=0 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_floats --in m=5 n=0 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_far_floats --in m=5 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_far_floats --in m=5 n=17 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_far_floats --in m=2 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_far_floats --in m=0 n=60 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open_far_floats --in m=5 n=0 --random 1 --check=all | FileCheck %s
// CHECK: check{{.*}}passed
//
// No lane has a branch of its own.
// RUN: mdh compile %s --entry twos --emit vector | FileCheck %s --check-prefixes CHOSEN,NONE
// RUN: mdh compile %s --entry fives --emit vector | FileCheck %s --check-prefixes GATHERED,NONE
// RUN: mdh compile %s --entry far_bytes --emit vector | FileCheck %s --check-prefixes CLAMPED,NONE
// NONE-NOT: scf.if {{.*}} -> (
// CHOSEN: vector.shuffle
// GATHERED: vector.gather
// CLAMPED: arith.select
// NONE-NOT: scf.if {{.*}} -> (

func.func @twos(%x: tensor<85xf32>) -> tensor<45xf32> {
  %none = tensor.empty() : tensor<45xf32>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 2 - 3] pad(1.5 : f32) : tensor<85xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}]>)
  return %y : tensor<45xf32>
}

func.func @threes(%x: tensor<129xf32>) -> tensor<45xf32> {
  %none = tensor.empty() : tensor<45xf32>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 3 - 3] pad(1.5 : f32) : tensor<129xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xf32>
}

func.func @fours(%x: tensor<173xf64>) -> tensor<45xf64> {
  %none = tensor.empty() : tensor<45xf64>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xf64>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 4 - 3] pad(-1.0 : f64) : tensor<173xf64>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xf64>
}

func.func @fives(%x: tensor<217xf32>) -> tensor<45xf32> {
  %none = tensor.empty() : tensor<45xf32>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 5 - 3] pad(0.5 : f32) : tensor<217xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xf32>
}

func.func @backwards(%x: tensor<85xf32>) -> tensor<45xf32> {
  %none = tensor.empty() : tensor<45xf32>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[85 - i * 2] pad(2.0 : f32) : tensor<85xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xf32>
}

func.func @bytes(%x: tensor<85xi8>) -> tensor<45xi8> {
  %none = tensor.empty() : tensor<45xi8>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xi8>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 2 - 3] pad(7 : i8) : tensor<85xi8>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}]>)
  return %y : tensor<45xi8>
}

func.func @far_bytes(%x: tensor<393xi8>) -> tensor<45xi8> {
  %none = tensor.empty() : tensor<45xi8>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xi8>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 9 - 3] pad(7 : i8) : tensor<393xi8>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xi8>
}

func.func @halves(%x: tensor<129xf16>) -> tensor<45xf16> {
  %none = tensor.empty() : tensor<45xf16>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xf16>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 3 - 3] pad(0.5 : f16) : tensor<129xf16>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}]>)
  return %y : tensor<45xf16>
}

func.func @far_halves(%x: tensor<305xbf16>) -> tensor<45xbf16> {
  %none = tensor.empty() : tensor<45xbf16>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xbf16>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 7 - 3] pad(0.5 : bf16) : tensor<305xbf16>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xbf16>
}

func.func @truths(%x: tensor<85xi1>) -> tensor<45xi1> {
  %none = tensor.empty() : tensor<45xi1>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xi1>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 2 - 3] pad(true) : tensor<85xi1>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}]>)
  return %y : tensor<45xi1>
}

func.func @indices(%x: tensor<85xindex>) -> tensor<45xindex> {
  %none = tensor.empty() : tensor<45xindex>
  %y = mdh.compute (i = 45)
    out_view(y = %none[i] : tensor<45xindex>)
    md_hom(id, (cc))
    inp_view(x = %x[i * 2 - 3] pad(9 : index) : tensor<85xindex>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<45xindex>
}

func.func @columns(%x: tensor<40x23xf32>) -> tensor<7x45xf32> {
  %none = tensor.empty() : tensor<7x45xf32>
  %y = mdh.compute (i = 7, j = 45)
    out_view(y = %none[i, j] : tensor<7x45xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[j - 2, i * 4 - 3] pad(3.0 : f32) : tensor<40x23xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 16}]>)
  return %y : tensor<7x45xf32>
}

func.func @diagonals(%x: tensor<40x44xi32>) -> tensor<7x45xi32> {
  %none = tensor.empty() : tensor<7x45xi32>
  %y = mdh.compute (i = 7, j = 45)
    out_view(y = %none[i, j] : tensor<7x45xi32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i + j - 2, j - i] pad(3 : i32) : tensor<40x44xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 8}]>)
  return %y : tensor<7x45xi32>
}

func.func @depthwise(%x: tensor<3x12x80xf32>, %w: tensor<3x3x3xf32>) -> tensor<3x6x40xf32> {
  %none = tensor.empty() : tensor<3x6x40xf32>
  %y = mdh.compute (c = 3, p = 6, q = 40, r = 3, s = 3)
    out_view(y = %none[c, p, q] : tensor<3x6x40xf32>)
    md_hom(mulf, (cc, cc, cc, pw(addf), pw(addf)))
    inp_view(x = %x[c, p * 2 + r - 1, q * 2 + s - 1] pad(0.0 : f32) : tensor<3x12x80xf32>, w = %w[c, r, s] : tensor<3x3x3xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {c: *, p: *, q: *, r: *, s: *}, register {p: 4, s: 3}, simd {q: 16}],
      decompose = {order: [L1.c, L1.p, L1.q, L1.r, L1.s, register.p, register.s, simd.q]},
      outputs = {y: {combine: {L1.r: register}}}>)
  return %y : tensor<3x6x40xf32>
}

func.func @open_bytes(%all: tensor<5x60xi8>, %m: index, %n: index) -> tensor<20xi8> {
  %x = tensor.extract_slice %all[0, 0] [%m, %n] [1, 1] : tensor<5x60xi8> to tensor<?x?xi8>
  %none = tensor.empty() : tensor<20xi8>
  %y = mdh.compute (i = 20)
    out_view(y = %none[i] : tensor<20xi8>)
    md_hom(id, (cc))
    inp_view(x = %x[2, i * 9 - 3] pad(7 : i8) : tensor<?x?xi8>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<20xi8>
}

func.func @open_floats(%all: tensor<5x60xf32>, %m: index, %n: index) -> tensor<20xf32> {
  %x = tensor.extract_slice %all[0, 0] [%m, %n] [1, 1] : tensor<5x60xf32> to tensor<?x?xf32>
  %none = tensor.empty() : tensor<20xf32>
  %y = mdh.compute (i = 20)
    out_view(y = %none[i] : tensor<20xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[2, i * 2 - 3] pad(0.5 : f32) : tensor<?x?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<20xf32>
}

func.func @open_far_floats(%all: tensor<5x60xf32>, %m: index, %n: index) -> tensor<20xf32> {
  %x = tensor.extract_slice %all[0, 0] [%m, %n] [1, 1] : tensor<5x60xf32> to tensor<?x?xf32>
  %none = tensor.empty() : tensor<20xf32>
  %y = mdh.compute (i = 20)
    out_view(y = %none[i] : tensor<20xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[2, i * 9 - 3] pad(0.5 : f32) : tensor<?x?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 8}]>)
  return %y : tensor<20xf32>
}
