// Rounded once, to nearest even, also to `bf16`, which machines reach by way of wider floats: long
// integers half-way between two numbers, one more and one less, and products of which a third,
// tiny number decides where they go. On vectors and without.
//
// RUN: %python %S/Inputs/npy.py save \
// RUN:   %t.int.npy i4 "(np.repeat([65794, 16843008, -16843008, 33685760, 1073741824, 259], 3) + np.tile([0, 1, -1], 6)).tolist() + 19 * [7]" \
// RUN:   %t.long.npy i8 "(np.repeat(np.array([257, -257, 259, 511]) << 53, 6) + np.tile([0, 1, -1, 1 << 30, -1 << 30, 1 << 44], 4)).tolist() + 21 * [2**53 + 2**45]" \
// RUN:   %t.x.npy u2 "np.array([9, 7, 9, 7, -9, 3e38, 1] + 38 * [9], 'f4').view('u4') >> 16" \
// RUN:   %t.y.npy u2 "np.array([29, 37, 29, 37, 29, 3e38, 1] + 38 * [29], 'f4').view('u4') >> 16" \
// RUN:   %t.z.npy u2 "np.array([2.**-100, -2.**-100, 0, 0, -2.**-100, 1, 2.**-126] + 38 * [2.**-120], 'f4').view('u4') >> 16"
// RUN: mdh run %s --entry integers --in %t.int.npy --out %t.a.npy --check | FileCheck %s
// RUN: mdh run %s --entry longs --in %t.long.npy --out %t.b.npy %t.c.npy --check | FileCheck %s
// RUN: mdh run %s --entry products --in %t.x.npy %t.y.npy %t.z.npy --out %t.d.npy --check | FileCheck %s
// RUN: mdh run %s --entry integers --random 1 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry longs --random 2 --check-each-step | FileCheck %s
// RUN: mdh run %s --entry products --random 3 --check-each-step | FileCheck %s
// CHECK: check passed
//

func.func @integers(%x: tensor<37xi32>) -> tensor<37xbf16> {
  %init = tensor.empty() : tensor<37xbf16>
  %points = mdh.inp_view (i = 37) (%x[i] : tensor<37xi32>) : !mdh.mda<37, i32>
  %floats = mdh.hom((%a: i32) {
      %b = arith.sitofp %a : i32 to bf16
      mdh.yield %b : bf16
  }, (cc)) %points : !mdh.mda<37, i32> -> !mdh.mda<37, bf16>
  %y = mdh.out_view (i) %floats -> (y = %init[i] : tensor<37xbf16>) : !mdh.mda<37, bf16>
  return %y : tensor<37xbf16>
}

func.func @longs(%x: tensor<45xi64>) -> (tensor<45xbf16>, tensor<45xbf16>) {
  %init = tensor.empty() : tensor<45xbf16>
  %points = mdh.inp_view (i = 45) (%x[i] : tensor<45xi64>) : !mdh.mda<45, i64>
  %floats = mdh.hom((%a: i64) {
      %b = arith.sitofp %a : i64 to bf16
      %c = arith.uitofp %a : i64 to bf16
      mdh.yield %b, %c : bf16, bf16
  }, (cc)) %points : !mdh.mda<45, i64> -> !mdh.mda<45, bf16, bf16>
  %y, %z = mdh.out_view (i) %floats
      -> (y = %init[i] : tensor<45xbf16>, z = %init[i] : tensor<45xbf16>) : !mdh.mda<45, bf16, bf16>
  return %y, %z : tensor<45xbf16>, tensor<45xbf16>
}

func.func @products(%x: tensor<45xbf16>, %y: tensor<45xbf16>, %z: tensor<45xbf16>) -> tensor<45xbf16> {
  %init = tensor.empty() : tensor<45xbf16>
  %points = mdh.inp_view (i = 45)
      (%x[i] : tensor<45xbf16>, %y[i] : tensor<45xbf16>, %z[i] : tensor<45xbf16>)
      : !mdh.mda<45, bf16, bf16, bf16>
  %sums = mdh.hom((%a: bf16, %b: bf16, %c: bf16) {
      %d = math.fma %a, %b, %c : bf16
      mdh.yield %d : bf16
  }, (cc)) %points : !mdh.mda<45, bf16, bf16, bf16> -> !mdh.mda<45, bf16>
  %w = mdh.out_view (i) %sums -> (w = %init[i] : tensor<45xbf16>) : !mdh.mda<45, bf16>
  return %w : tensor<45xbf16>
}

// On vectors a whole number is first cut to what f32 holds exactly.
// RUN: mdh-opt %s --mdh-expand-math | FileCheck %s --check-prefix EXPANDED
// EXPANDED-LABEL: func.func @on_vectors
// EXPANDED:       arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf64>
// EXPANDED:       arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
func.func @on_vectors(%x: vector<16xi32>) -> vector<16xbf16> {
  %y = arith.sitofp %x : vector<16xi32> to vector<16xbf16>
  return %y : vector<16xbf16>
}
