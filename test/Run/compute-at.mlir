// Chains of computations, each tile of the last one with what it needs of those before.
//
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any_rows --random 1 --size i=7 --size j=33 --check | FileCheck %s
// RUN: mdh run %s --entry any_rows --random 1 --size i=0 --size j=5 --check | FileCheck %s
// RUN: mdh run %s --entry any_rows --random 1 --size i=4 --size j=0 --check | FileCheck %s
// RUN: mdh run %s --entry blur --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry nested --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry transposed --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry kept --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry replaced --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry summed --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry uneven --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry scanned --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry row_of_sums --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry shifted_sums --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry pairs --random 1 --check | FileCheck %s
// CHECK: check{{.*}}passed

// A maximum and a sum of each row for four rows at a time, on both cores; 13 rows of 37.
#rows = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {j: *}, register {i: 2}, simd {j: 16}],
  decompose = {order: [L2.i, L1.j, register.i, simd.j]},
  recompose = {order: [L2.i, simd.j, L1.j, register.i]},
  outputs = {m: {combine: {simd.j: register}}}, compute_at = {consumer: "y", level: L3.i}>
#sums = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {j: *}, simd {j: 16}],
  decompose = {order: [L2.i, L1.j, simd.j]}, recompose = {order: [L2.i, simd.j, L1.j]},
  outputs = {s: {combine: {simd.j: register}}}, compute_at = {consumer: "y", level: L2.i}>
#all = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L3 {i: *}, L2 {i: 4, j: *}, simd {j: 16}],
  decompose = {order: [core.i, L3.i, L2.i, L2.j, simd.j]}>
func.func @rows(%x: tensor<13x37xf32>) -> tensor<13x37xf32> {
  %row = tensor.empty() : tensor<13xf32>
  %none = tensor.empty() : tensor<13x37xf32>
  %m = mdh.compute (i = 13, j = 37)
    out_view(m = %row[i] : tensor<13xf32>)
    md_hom(id, (cc, pw(maximumf)))
    inp_view(x = %x[i, j] : tensor<13x37xf32>)
    schedule(#rows)
  %s = mdh.compute (i = 13, j = 37)
    out_view(s = %row[i] : tensor<13xf32>)
    md_hom((%x_ij: f32, %m_i: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %exp = math.exp %less : f32
      mdh.yield %exp : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i, j] : tensor<13x37xf32>, m = %m[i] : tensor<13xf32>)
    schedule(#sums)
  %y = mdh.compute (i = 13, j = 37)
    out_view(y = %none[i, j] : tensor<13x37xf32>)
    md_hom((%x_ij: f32, %m_i: f32, %s_i: f32) {
      %less = arith.subf %x_ij, %m_i : f32
      %exp = math.exp %less : f32
      %y = arith.divf %exp, %s_i : f32
      mdh.yield %y : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : tensor<13x37xf32>, m = %m[i] : tensor<13xf32>, s = %s[i] : tensor<13xf32>)
    schedule(#all)
  return %y : tensor<13x37xf32>
}

// Rows without their mean, of any number and length.
#any = #mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 16}],
  decompose = {order: [L1.i, L1.j, simd.j]}, outputs = {m: {combine: {L1.j: register}}}, compute_at = {consumer: "y", level: core.i}>
#all_of_any = #mdh.schedule<asm = cpu, layers = [core {i: *}, L2 {i: 3, j: *}, simd {j: 16}],
  decompose = {order: [core.i, L2.i, L2.j, simd.j]}>
func.func @any_rows(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %row = tensor.empty(%n) : tensor<?xf32>
  %none = tensor.empty(%n, %k) : tensor<?x?xf32>
  %m = mdh.compute (i = %n, j = %k)
    out_view(m = %row[i] : tensor<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : tensor<?x?xf32>)
    schedule(#any)
  %y = mdh.compute (i = %n, j = %k)
    out_view(y = %none[i, j] : tensor<?x?xf32>)
    md_hom(subf, (cc, cc))
    inp_view(x = %x[i, j] : tensor<?x?xf32>, m = %m[i] : tensor<?xf32>)
    schedule(#all_of_any)
  return %y : tensor<?x?xf32>
}

// Rows, then columns, in tiles of 5 x 16: those of the rows are two more high.
#inner = #mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 16}],
  decompose = {order: [L1.i, L1.j, simd.j]}, compute_at = {consumer: "y", level: L2.j}>
#outer = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, j: *}, L1 {i: 5}, simd {j: 16}],
  decompose = {order: [core.i, L2.i, L2.j, L1.i, simd.j]}>
func.func @blur(%x: tensor<25x43xf32>) -> tensor<23x41xf32> {
  %t_none = tensor.empty() : tensor<25x41xf32>
  %none = tensor.empty() : tensor<23x41xf32>
  %t = mdh.compute (i = 25, j = 41)
    out_view(t = %t_none[i, j] : tensor<25x41xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      mdh.yield %abc : f32
    }, (cc, cc))
    inp_view(x = %x[i, j][i, j + 1][i, j + 2] : tensor<25x43xf32>)
    schedule(#inner)
  %y = mdh.compute (i = 23, j = 41)
    out_view(y = %none[i, j] : tensor<23x41xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      mdh.yield %abc : f32
    }, (cc, cc))
    inp_view(t = %t[i, j][i + 1, j][i + 2, j] : tensor<25x41xf32>)
    schedule(#outer)
  return %y : tensor<23x41xf32>
}

// Of three, the first one is computed in loops of the second one, which is in those of the third.
#first = #mdh.schedule<asm = cpu, layers = [L1 {i: *}], compute_at = {consumer: "b", level: L1.i}>
#second = #mdh.schedule<asm = cpu, layers = [L1 {i: *}, register {i: 3}], compute_at = {consumer: "c", level: L2.i}>
#third = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *}, L1 {i: 4}]>
func.func @nested(%x: tensor<33xi32>) -> tensor<29xi32> {
  %a_none = tensor.empty() : tensor<31xi32>
  %b_none = tensor.empty() : tensor<30xi32>
  %c_none = tensor.empty() : tensor<29xi32>
  %a = mdh.compute (i = 31)
    out_view(a = %a_none[i] : tensor<31xi32>)
    md_hom(muli, (cc))
    inp_view(x = %x[i][i + 2] : tensor<33xi32>)
    schedule(#first)
  %b = mdh.compute (i = 30)
    out_view(b = %b_none[i] : tensor<30xi32>)
    md_hom(addi, (cc))
    inp_view(a = %a[i][i + 1] : tensor<31xi32>)
    schedule(#second)
  %c = mdh.compute (i = 29)
    out_view(c = %c_none[i] : tensor<29xi32>)
    md_hom(subi, (cc))
    inp_view(b = %b[i + 1][i] : tensor<30xi32>)
    schedule(#third)
  return %c : tensor<29xi32>
}

// Written and read in other directions, and every second one.
#back = #mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}], compute_at = {consumer: "y", level: L2.j}>
#forth = #mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, L1 {i: 3, j: 2}],
  decompose = {order: [L2.i, L2.j, L1.j, L1.i]}>
func.func @transposed(%x: tensor<11x19xi32>) -> tensor<9x10xi32> {
  %t_none = tensor.empty() : tensor<19x11xi32>
  %none = tensor.empty() : tensor<9x10xi32>
  %t = mdh.compute (i = 11, j = 19)
    out_view(t = %t_none[18 - j, i] : tensor<19x11xi32>)
    md_hom((%x_ij: i32) {
      %i = mdh.index 0 : index
      %n = arith.index_cast %i : index to i32
      %y = arith.muli %x_ij, %n : i32
      mdh.yield %y : i32
    }, (cc, cc))
    inp_view(x = %x[i, j] : tensor<11x19xi32>)
    schedule(#back)
  %y = mdh.compute (i = 9, j = 10)
    out_view(y = %none[i, j] : tensor<9x10xi32>)
    md_hom(addi, (cc, cc))
    inp_view(t = %t[2 * i, j][2 * i + 1, j + 1] : tensor<19x11xi32>)
    schedule(#forth)
  return %y : tensor<9x10xi32>
}

// What is a result too is written where it was, each part once.
#part = #mdh.schedule<asm = cpu, layers = [L1 {i: *}, simd {i: 16}], compute_at = {consumer: "y", level: L2.i}>
#parts = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *}, L1 {i: 2}, simd {i: 16}]>
func.func @kept(%x: tensor<101xf32>) -> (tensor<101xf32>, tensor<101xf32>) {
  %none = tensor.empty() : tensor<101xf32>
  %t = mdh.compute (i = 101)
    out_view(t = %none[i] : tensor<101xf32>)
    md_hom(mulf, (cc))
    inp_view(x = %x[i][i] : tensor<101xf32>)
    schedule(#part)
  %y = mdh.compute (i = 101)
    out_view(y = %none[i] : tensor<101xf32>)
    md_hom(addf, (cc))
    inp_view(t = %t[i] : tensor<101xf32>, x = %x[i] : tensor<101xf32>)
    schedule(#parts)
  return %t, %y : tensor<101xf32>, tensor<101xf32>
}

// The result is in the memory of what it is made from.
#sum = #mdh.schedule<asm = cpu, layers = [L1 {j: *}], compute_at = {consumer: "y", level: L2.i}>
#root = #mdh.schedule<asm = cpu, layers = [L2 {i: *}, simd {i: 16}]>
func.func @replaced(%x: tensor<21x5xf32>, %into: tensor<21xf32>) -> tensor<21xf32> {
  %t = mdh.compute (i = 21, j = 5)
    out_view(t = %into[i] : tensor<21xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(x = %x[i, j][i, j] : tensor<21x5xf32>)
    schedule(#sum)
  %y = mdh.compute (i = 21)
    out_view(y = %t[i] : tensor<21xf32>)
    md_hom((%sum: f32) {
      %y = math.sqrt %sum : f32
      mdh.yield %y : f32
    }, (cc))
    inp_view(t = %t[i] : tensor<21xf32>)
    schedule(#root)
  return %y : tensor<21xf32>
}

// What is summed up by both cores, and again in parts.
#square = #mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}], compute_at = {consumer: "y", level: L2.i}>
#total = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *}, L1 {i: 3, j: *}, register {j: 4}],
  decompose = {order: [core.i, L2.i, L1.i, L1.j, register.j]}>
func.func @summed(%x: tensor<17x6xi64>, %u: tensor<6x9xi64>) -> tensor<i64> {
  %t_none = tensor.empty() : tensor<17x9xi64>
  %none = tensor.empty() : tensor<i64>
  %t = mdh.compute (i = 17, j = 9, k = 6)
    out_view(t = %t_none[i, j] : tensor<17x9xi64>)
    md_hom(muli, (cc, cc, pw(addi)))
    inp_view(x = %x[i, k] : tensor<17x6xi64>, u = %u[k, j] : tensor<6x9xi64>)
    schedule(#square)
  %y = mdh.compute (i = 17, j = 9)
    out_view(y = %none[] : tensor<i64>)
    md_hom(muli, (pw(addi), pw(addi)))
    inp_view(t = %t[i, j][i, j] : tensor<17x9xi64>)
    schedule(#total)
  return %y : tensor<i64>
}

// Prefix-sums of rows, which are whole in each tile.
#scan = #mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}], compute_at = {consumer: "y", level: L2.i}>
#apart = #mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: *, j: *}, L1 {i: 2, j: 8}],
  decompose = {order: [core.i, L2.i, L2.j, L1.i, L1.j]}>
func.func @scanned(%x: tensor<9x30xi32>) -> tensor<9x20xi32> {
  %t_none = tensor.empty() : tensor<9x30xi32>
  %none = tensor.empty() : tensor<9x20xi32>
  %t = mdh.compute (i = 9, j = 30)
    out_view(t = %t_none[i, j] : tensor<9x30xi32>)
    md_hom(id, (cc, ps(addi)))
    inp_view(x = %x[i, j] : tensor<9x30xi32>)
    schedule(#scan)
  %y = mdh.compute (i = 9, j = 20)
    out_view(y = %none[i, j] : tensor<9x20xi32>)
    md_hom(subi, (cc, cc))
    inp_view(t = %t[i, j + 10][i, j] : tensor<9x30xi32>)
    schedule(#apart)
  return %y : tensor<9x20xi32>
}

// One row of sums, which needs those before.
#prefix = #mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 8}], decompose = {order: [L1.j, L1.i, simd.j]},
  compute_at = {consumer: "y", level: L2.j}>
#row = #mdh.schedule<asm = cpu, layers = [core {j: 2}, L2 {j: *}, simd {j: 8}],
  decompose = {order: [core.j, L2.j, simd.j]}>
func.func @row_of_sums(%x: tensor<5x64xi32>) -> tensor<64xi32> {
  %t_none = tensor.empty() : tensor<5x64xi32>
  %none = tensor.empty() : tensor<64xi32>
  %t = mdh.compute (i = 5, j = 64)
    out_view(t = %t_none[i, j] : tensor<5x64xi32>)
    md_hom(id, (ps(addi), cc))
    inp_view(x = %x[i, j] : tensor<5x64xi32>)
    schedule(#prefix)
  %y = mdh.compute (j = 64)
    out_view(y = %none[j] : tensor<64xi32>)
    md_hom(id, (cc))
    inp_view(t = %t[3, j] : tensor<5x64xi32>)
    schedule(#row)
  return %y : tensor<64xi32>
}

// Rows from the third on.
#rest = #mdh.schedule<asm = cpu, layers = [core {j: 2}, L2 {i: *, j: *}, simd {j: 8}],
  decompose = {order: [core.j, L2.j, L2.i, simd.j]}>
func.func @shifted_sums(%x: tensor<5x64xi32>) -> tensor<3x64xi32> {
  %t_none = tensor.empty() : tensor<5x64xi32>
  %none = tensor.empty() : tensor<3x64xi32>
  %t = mdh.compute (i = 5, j = 64)
    out_view(t = %t_none[i, j] : tensor<5x64xi32>)
    md_hom(id, (ps(addi), cc))
    inp_view(x = %x[i, j] : tensor<5x64xi32>)
    schedule(#prefix)
  %y = mdh.compute (i = 3, j = 64)
    out_view(y = %none[i, j] : tensor<3x64xi32>)
    md_hom(id, (cc, cc))
    inp_view(t = %t[i + 2, j] : tensor<5x64xi32>)
    schedule(#rest)
  return %y : tensor<3x64xi32>
}

// Two results of one computation, with single points as tiles.
#both = #mdh.schedule<asm = cpu, layers = [L1 {j: *}], compute_at = {consumer: "y", level: core.i}>
#single = #mdh.schedule<asm = cpu, layers = [core {i: *}]>
func.func @pairs(%x: tensor<6x7xf32>) -> tensor<6xf32> {
  %none = tensor.empty() : tensor<6xf32>
  %a, %b = mdh.compute (i = 6, j = 7)
    out_view(a = %none[i] : tensor<6xf32>, b = %none[5 - i] : tensor<6xf32>)
    md_hom((%x_ij: f32) {
      %y = arith.mulf %x_ij, %x_ij : f32
      mdh.yield %x_ij, %y : f32, f32
    }, (cc, pw(addf, addf)))
    inp_view(x = %x[i, j] : tensor<6x7xf32>)
    schedule(#both)
  %y = mdh.compute (i = 6)
    out_view(y = %none[i] : tensor<6xf32>)
    md_hom(subf, (cc))
    inp_view(a = %a[i] : tensor<6xf32>, b = %b[5 - i] : tensor<6xf32>)
    schedule(#single)
  return %y : tensor<6xf32>
}

// A computation that the model has no schedule for, since its points lie at unequal distances, is
// computed alone.
func.func @uneven(%x: tensor<6xf32>, %s: index, %w: index) -> tensor<12xf32> {
  %none = tensor.empty() : tensor<6xf32>
  %a = mdh.compute (i = 6)
    out_view(a = %none[i] : tensor<6xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<6xf32>)
  %all = tensor.empty() : tensor<12xf32>
  %y = mdh.compute (i = 6 step %s width %w)
    out_view(y = %all[2 * i] : tensor<12xf32>)
    md_hom(id, (cc))
    inp_view(a = %a[i] : tensor<6xf32>)
  return %y : tensor<12xf32>
}
