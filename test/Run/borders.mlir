// Padding at every side, whatever tiles there are, where sizes are known and where they are not.
//
// RUN: mdh run %s --check=all --entry line | FileCheck %s
// RUN: mdh run %s --check=all --entry line --device sim | FileCheck %s
// RUN: mdh run %s --check=all --entry plane | FileCheck %s
// RUN: mdh run %s --check=all --entry plane --device sim | FileCheck %s
// RUN: %interpreted mdh run %s --check=all --entry plane --device cuda | FileCheck %s
// RUN: mdh run %s --check=all --entry narrow | FileCheck %s
// RUN: mdh run %s --check=all --entry reversed | FileCheck %s
// RUN: mdh run %s --check=all --entry apart | FileCheck %s
// RUN: mdh run %s --check=all --entry moved | FileCheck %s
// RUN: mdh run %s --check=all --entry tiles | FileCheck %s
// RUN: mdh run %s --check=all --entry open --size i=97 --size j=131 | FileCheck %s
// RUN: mdh run %s --check=all --entry open --size i=1 --size j=1 | FileCheck %s
// RUN: mdh run %s --check=all --entry open --size i=5 --size j=16 --device sim | FileCheck %s
// RUN: mdh run %s --check=all --entry image --range=0.5..1.5 | FileCheck %s
// RUN: mdh run %s --check=all --entry channels --range=0.5..1.5 | FileCheck %s
// RUN: mdh run %s --check=all --entry chain --range=0.5..1.5 | FileCheck %s
// A thread inside has no condition of its own for each of its reads.
// RUN: mdh compile %s --entry plane --device cuda --emit ptx | FileCheck %s --check-prefix PTX
// PTX: {{[[:space:]]+ld[.]global[.]b32[^;]+;}}{{[[:space:]]+ld[.]global[.]b32[^;]+;}}{{[[:space:]]+ld[.]global[.]b32[^;]+;}}{{[[:space:]]+ld[.]global[.]b32[^;]+;}}
// CHECK: check passed: [[N:[0-9]+]] of [[N]] elements compared

func.func @line(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %y = tensor.empty() : tensor<1000xf32>
  %z = mdh.compute (i = 1000)
    out_view(y = %y[i] : tensor<1000xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i - 3][i + 2] pad(7.0 : f32) : tensor<1000xf32>)
  return %z : tensor<1000xf32>
}

func.func @plane(%x: tensor<70x90xf32>) -> tensor<70x90xf32> {
  %y = tensor.empty() : tensor<70x90xf32>
  %z = mdh.compute (i = 70, j = 90)
    out_view(y = %y[i, j] : tensor<70x90xf32>)
    md_hom((%a: f32, %b: f32, %c: f32, %d: f32) {
      %0 = arith.addf %a, %b : f32
      %1 = arith.mulf %0, %c : f32
      %2 = arith.subf %1, %d : f32
      mdh.yield %2 : f32
    }, (cc, cc))
    inp_view(x = %x[i - 1, j][i + 1, j][i, j - 1][i, j + 1] pad(-1.0 : f32) : tensor<70x90xf32>)
  return %z : tensor<70x90xf32>
}

// Less than the padding around it.
func.func @narrow(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = tensor.empty() : tensor<3x2xf32>
  %z = mdh.compute (i = 3, j = 2)
    out_view(y = %y[i, j] : tensor<3x2xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i - 4, j][i, j + 5] pad(2.0 : f32) : tensor<3x2xf32>)
  return %z : tensor<3x2xf32>
}

func.func @reversed(%x: tensor<200xf32>) -> tensor<300xf32> {
  %y = tensor.empty() : tensor<300xf32>
  %z = mdh.compute (i = 300)
    out_view(y = %y[i] : tensor<300xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[210 - i][i - 50] pad(3.0 : f32) : tensor<200xf32>)
  return %z : tensor<300xf32>
}

func.func @apart(%x: tensor<64x500xf32>) -> tensor<40x260xf32> {
  %y = tensor.empty() : tensor<40x260xf32>
  %z = mdh.compute (i = 40, j = 260)
    out_view(y = %y[i, j] : tensor<40x260xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[2 * i - 3, 2 * j - 5][i floordiv 2 - 1, j mod 7 - 2] pad(1.0 : f32) : tensor<64x500xf32>)
  return %z : tensor<40x260xf32>
}

func.func @moved(%x: tensor<40x60xf32>) -> tensor<40x60xf32> {
  %y = tensor.empty() : tensor<40x60xf32>
  %z = mdh.compute (i = 10 to 50, j = -5 to 55)
    out_view(y = %y[i, j] origin(10, -5) : tensor<40x60xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i - 1, j][i, j + 1] origin(10, -5) pad(4.0 : f32) : tensor<40x60xf32>)
  return %z : tensor<40x60xf32>
}

func.func @tiles(%x: tensor<61x83xf32>) -> tensor<61x83xf32> {
  %y = tensor.empty() : tensor<61x83xf32>
  %z = mdh.compute (i = 61, j = 83)
    out_view(y = %y[i, j] : tensor<61x83xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i - 2, j - 1][i + 1, j + 3] pad(5.0 : f32) : tensor<61x83xf32>)
    schedule(#mdh.schedule<asm = cpu,
      layers = [core {i: 2}, L2 {i: *, j: *}, L1 {i: 4}, register {i: 2, j: 2}, simd {j: 8}]>)
  return %z : tensor<61x83xf32>
}

func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %y = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = mdh.compute (i = %n, j = %m)
    out_view(y = %y[i, j] : tensor<?x?xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i - 1, j - 2][i + 2, j + 1] pad(6.0 : f32) : tensor<?x?xf32>)
  return %z : tensor<?x?xf32>
}

func.func @image(%x: tensor<2x19x21x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<2x19x21x16xf32> {
  %y = tensor.empty() : tensor<2x19x21x16xf32>
  %z = mdh.compute (n = 2, p = 19, q = 21, k = 16, r = 3, s = 3, c = 8)
    out_view(y = %y[n, p, q, k] : tensor<2x19x21x16xf32>)
    md_hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf)))
    inp_view(x = %x[n, p + r - 1, q + s - 1, c] pad(0.0 : f32) : tensor<2x19x21x8xf32>,
             w = %w[r, s, c, k] : tensor<3x3x8x16xf32>)
  return %z : tensor<2x19x21x16xf32>
}

func.func @channels(%x: tensor<2x8x19x37xf32>, %w: tensor<6x8x3x3xf32>) -> tensor<2x6x19x37xf32> {
  %y = tensor.empty() : tensor<2x6x19x37xf32>
  %z = mdh.compute (n = 2, k = 6, p = 19, q = 37, c = 8, r = 3, s = 3)
    out_view(y = %y[n, k, p, q] : tensor<2x6x19x37xf32>)
    md_hom(mulf, (cc, cc, cc, cc, pw(addf), pw(addf), pw(addf)))
    inp_view(x = %x[n, c, p + r - 1, q + s - 1] pad(0.5 : f32) : tensor<2x8x19x37xf32>,
             w = %w[k, c, r, s] : tensor<6x8x3x3xf32>)
  return %z : tensor<2x6x19x37xf32>
}

func.func @chain(%x: tensor<80x96xf32>) -> tensor<80x96xf32> {
  %e = tensor.empty() : tensor<80x96xf32>
  %y = mdh.compute (i = 80, j = 96)
    out_view(y = %e[i, j] : tensor<80x96xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i, j - 1][i, j + 1] pad(1.0 : f32) : tensor<80x96xf32>)
  %z = mdh.compute (i = 80, j = 96)
    out_view(z = %e[i, j] : tensor<80x96xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(y = %y[i - 1, j][i + 1, j] pad(2.0 : f32) : tensor<80x96xf32>)
  return %z : tensor<80x96xf32>
}
