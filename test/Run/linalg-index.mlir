// Bodies compute with the dialect index, too, as a Fourier transform from TOSA does.
//
// RUN: mdh run %s --check=all --entry fourier --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,FOURIER
// RUN: mdh run %s --check=all --entry fourier --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix FOURIER
// RUN: mdh run %s --check=all --entry every --random 1 2>&1 | FileCheck %s --check-prefixes RAISED,EVERY
// RUN: mdh run %s --check=all --entry every --random 1 --no-raise 2>&1 | FileCheck %s --check-prefix EVERY
// RAISED: note: 1 operation of linalg raised to computations: 1 linalg.generic
// FOURIER: check passed: 20 of 20 elements compared
// EVERY: check passed: 40 of 40 elements compared, no difference
//
// RUN: mdh-opt %s --mdh-raise-linalg | FileCheck %s --implicit-check-not=index.mul --implicit-check-not=index.cmp
// CHECK: arith.remui

func.func @fourier(%x: tensor<4x8xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %turn = arith.constant 0.785398163 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %eight = index.constant 8
    %jk = index.mul %j, %k
    %rest = index.remu %jk, %eight
    %number = index.castu %rest : index to i32
    %float = arith.uitofp %number : i32 to f32
    %angle = arith.mulf %float, %turn : f32
    %cos = math.cos %angle : f32
    %p = arith.mulf %a, %cos : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// All of them, on either side of zero.
func.func @every(%x: tensor<40xi64>) -> tensor<40xi64> {
  %e = tensor.empty() : tensor<40xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<40xi64>) outs(%e : tensor<40xi64>) {
  ^bb0(%v: i64, %o: i64):
    %i = linalg.index 0 : index
    %c20 = index.constant 20
    %c3 = index.constant 3
    %no = index.bool.constant false
    %n = index.sub %i, %c20
    %b = index.casts %v : i64 to index
    %c7 = index.constant 7
    %q0 = index.divs %n, %c3
    %q1 = index.divu %n, %c3
    %q2 = index.ceildivs %n, %c3
    %q3 = index.ceildivu %n, %c3
    %q4 = index.floordivs %n, %c3
    %q5 = index.rems %n, %c7
    %q6 = index.remu %n, %c7
    %q7 = index.maxs %n, %b
    %q8 = index.maxu %n, %b
    %q9 = index.mins %n, %b
    %q10 = index.minu %n, %b
    %q11 = index.shl %n, %c3
    %q12 = index.shrs %n, %c3
    %q13 = index.shru %n, %c3
    %q14 = index.and %n, %b
    %q15 = index.or %n, %b
    %q16 = index.xor %n, %b
    %t0 = index.cmp slt(%n, %b)
    %t1 = index.cmp uge(%n, %b)
    %t2 = arith.xori %t0, %t1 : i1
    %t = arith.ori %t2, %no : i1
    %s0 = index.add %q0, %q1
    %s1 = index.xor %s0, %q2
    %s2 = index.add %s1, %q3
    %s3 = index.xor %s2, %q4
    %s4 = index.add %s3, %q5
    %s5 = index.xor %s4, %q6
    %s6 = index.add %s5, %q7
    %s7 = index.xor %s6, %q8
    %s8 = index.add %s7, %q9
    %s9 = index.xor %s8, %q10
    %s10 = index.add %s9, %q11
    %s11 = index.xor %s10, %q12
    %s12 = index.add %s11, %q13
    %s13 = index.xor %s12, %q14
    %s14 = index.add %s13, %q15
    %s15 = index.mul %s14, %q16
    %s16 = arith.select %t, %s15, %s14 : index
    %r = index.casts %s16 : index to i64
    linalg.yield %r : i64
  } -> tensor<40xi64>
  return %y : tensor<40xi64>
}
