// Transpositions in registers: types of every width, sizes that no block divides or that are
// known at run time only, dimensions around, other inputs beside, strides, what lies outside.
//
// RUN: mdh run %s --entry doubles --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry halves --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry bytes --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry flags --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=203 --size j=517 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=7 --size j=5 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=64 --size j=256 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=0 --size j=256 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry permuted --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry sum --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry strided --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry padded --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry large --random 1 --check | FileCheck %s
// RUN: mdh compile %s --entry doubles --emit vector | FileCheck %s --check-prefix VECTOR
// CHECK: check{{.*}}passed

// VECTOR: vector.shuffle
func.func @doubles(%x: tensor<101x203xf64>) -> tensor<203x101xf64> {
  %none = tensor.empty() : tensor<203x101xf64>
  %y = mdh.compute (i = 101, j = 203)
    out_view(y = %none[j, i] : tensor<203x101xf64>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<101x203xf64>)
  return %y : tensor<203x101xf64>
}

func.func @halves(%x: tensor<101x203xf16>) -> tensor<203x101xf16> {
  %none = tensor.empty() : tensor<203x101xf16>
  %y = mdh.compute (i = 101, j = 203)
    out_view(y = %none[j, i] : tensor<203x101xf16>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<101x203xf16>)
  return %y : tensor<203x101xf16>
}

func.func @bytes(%x: tensor<101x203xi8>) -> tensor<203x101xi8> {
  %none = tensor.empty() : tensor<203x101xi8>
  %y = mdh.compute (i = 101, j = 203)
    out_view(y = %none[j, i] : tensor<203x101xi8>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<101x203xi8>)
  return %y : tensor<203x101xi8>
}

// Bytes in memory, bits in lanes.
func.func @flags(%x: tensor<101x203xi1>) -> tensor<203x101xi1> {
  %none = tensor.empty() : tensor<203x101xi1>
  %y = mdh.compute (i = 101, j = 203)
    out_view(y = %none[j, i] : tensor<203x101xi1>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<101x203xi1>)
  return %y : tensor<203x101xi1>
}

func.func @any(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = memref.dim %x, %zero : memref<?x?xf32>
  %j = memref.dim %x, %one : memref<?x?xf32>
  mdh.compute (i = %i, j = %j)
    out_view(y = %y[j, i] : memref<?x?xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<?x?xf32>)
  return
}

func.func @permuted(%x: tensor<37x6x50x41xf32>) -> tensor<41x6x50x37xf32> {
  %none = tensor.empty() : tensor<41x6x50x37xf32>
  %y = mdh.compute (a = 37, b = 6, c = 50, d = 41)
    out_view(y = %none[d, b, c, a] : tensor<41x6x50x37xf32>)
    md_hom(id, (cc, cc, cc, cc))
    inp_view(x = %x[a, b, c, d] : tensor<37x6x50x41xf32>)
  return %y : tensor<41x6x50x37xf32>
}

func.func @sum(%x: tensor<101x203xf32>, %z: tensor<203x101xf32>, %v: tensor<101xf32>)
    -> tensor<203x101xf32> {
  %none = tensor.empty() : tensor<203x101xf32>
  %y = mdh.compute (i = 101, j = 203)
    out_view(y = %none[j, i] : tensor<203x101xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %sum = arith.addf %a, %b : f32
      %product = arith.mulf %sum, %c : f32
      mdh.yield %product : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : tensor<101x203xf32>, z = %z[j, i] : tensor<203x101xf32>,
             v = %v[i] : tensor<101xf32>)
  return %y : tensor<203x101xf32>
}

func.func @strided(%x: tensor<300x203xi32>) -> tensor<203x100xi32> {
  %none = tensor.empty() : tensor<203x100xi32>
  %y = mdh.compute (i = 100, j = 203)
    out_view(y = %none[202 - j, i] : tensor<203x100xi32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[299 - 3 * i, j] : tensor<300x203xi32>)
  return %y : tensor<203x100xi32>
}

func.func @padded(%x: tensor<99x201xf32>) -> tensor<203x101xf32> {
  %none = tensor.empty() : tensor<203x101xf32>
  %y = mdh.compute (i = 101, j = 203)
    out_view(y = %none[j, i] : tensor<203x101xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i - 1, j - 1] pad(7.0 : f32) : tensor<99x201xf32>)
  return %y : tensor<203x101xf32>
}

// Stored non-temporally.
func.func @large(%x: tensor<4100x4099xf32>) -> tensor<4099x4100xf32> {
  %none = tensor.empty() : tensor<4099x4100xf32>
  %y = mdh.compute (i = 4100, j = 4099)
    out_view(y = %none[j, i] : tensor<4099x4100xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<4100x4099xf32>)
  return %y : tensor<4099x4100xf32>
}
