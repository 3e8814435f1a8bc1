// Truth values in lanes: whole vectors and what is left of them, backwards, beyond the ends, sums, what
// others are compared to and chosen by, and memory that comes from elsewhere.
//
// RUN: mdh run %s --entry both --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry backwards --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry beyond --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry any --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry odd --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry less --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry chosen --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry open --size i=300 --size j=137 --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry columns --random 1 --check=all | FileCheck %s
// RUN: mdh run %s --entry both --random 1 --check-each-step | FileCheck %s
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh run %s --entry both --random 1 --check=all | FileCheck %s
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh run %s --entry beyond --random 1 --check=all | FileCheck %s
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh run %s --entry chosen --random 1 --check=all | FileCheck %s
// CHECK: check{{.*}}passed
//
// RUN: env MDH_ASM=%S/../Inputs/avx2.json mdh compile %s --entry both --emit vector | FileCheck %s --check-prefix VECTOR
// VECTOR: vector.load %{{.*}} : memref<101x203xi8>, vector<32xi8>
// VECTOR: arith.trunci %{{.*}} : vector<32xi8> to vector<32xi1>
// VECTOR: vector.store %{{.*}} : memref<101x203xi8>, vector<32xi8>
// VECTOR: vector.maskedload %{{.*}} : memref<101x203xi8>, vector<32xi1>, vector<32xi8> into vector<32xi8>
//
// One instruction for all of a vector's lanes, of a cast from bytes to bits and back nothing is left.
// RUN: mdh compile %s --entry both --emit llvm | FileCheck %s --check-prefix LLVM
// LLVM-NOT: load i1
// LLVM-NOT: store i1
// LLVM: load <{{[0-9]+}} x i8>

func.func @both(%x: tensor<101x203xi1>, %y: tensor<101x203xi1>) -> tensor<101x203xi1> {
  %none = tensor.empty() : tensor<101x203xi1>
  %z = linalg.elementwise kind=#linalg.elementwise_kind<mul>
    ins(%x, %y : tensor<101x203xi1>, tensor<101x203xi1>) outs(%none : tensor<101x203xi1>) -> tensor<101x203xi1>
  return %z : tensor<101x203xi1>
}

func.func @backwards(%x: tensor<1000xi1>) -> tensor<1000xi1> {
  %none = tensor.empty() : tensor<1000xi1>
  %z = mdh.compute (i = 1000)
    out_view(z = %none[i] : tensor<1000xi1>)
    md_hom(id, (cc))
    inp_view(x = %x[999 - i] : tensor<1000xi1>)
  return %z : tensor<1000xi1>
}

func.func @beyond(%x: tensor<500xi1>) -> tensor<500xi1> {
  %none = tensor.empty() : tensor<500xi1>
  %z = mdh.compute (i = 500)
    out_view(z = %none[i] : tensor<500xi1>)
    md_hom((%a: i1, %b: i1) {
      %c = arith.xori %a, %b : i1
      mdh.yield %c : i1
    }, (cc))
    inp_view(x = %x[i - 3][i + 2] pad(true) : tensor<500xi1>)
  return %z : tensor<500xi1>
}

func.func @any(%x: tensor<37x1003xi1>) -> tensor<37xi1> {
  %none = tensor.empty() : tensor<37xi1>
  %z = mdh.compute (i = 37, k = 1003)
    out_view(z = %none[i] : tensor<37xi1>)
    md_hom(id, (cc, pw(ori)))
    inp_view(x = %x[i, k] : tensor<37x1003xi1>)
  return %z : tensor<37xi1>
}

// The carry is what was there before.
func.func @odd(%x: memref<1003x37xi1>, %z: memref<37xi1>) {
  linalg.reduce { arith.xori } ins(%x : memref<1003x37xi1>) outs(%z : memref<37xi1>) dimensions = [0]
  return
}

func.func @less(%x: tensor<77x129xf64>, %y: tensor<77x129xf32>) -> tensor<77x129xi1> {
  %none = tensor.empty() : tensor<77x129xi1>
  %z = mdh.compute (i = 77, j = 129)
    out_view(z = %none[i, j] : tensor<77x129xi1>)
    md_hom((%a: f64, %b: f32) {
      %c = arith.extf %b : f32 to f64
      %d = arith.cmpf olt, %a, %c : f64
      mdh.yield %d : i1
    }, (cc, cc))
    inp_view(x = %x[i, j] : tensor<77x129xf64>, y = %y[i, j] : tensor<77x129xf32>)
  return %z : tensor<77x129xi1>
}

func.func @chosen(%c: tensor<77x129xi1>, %x: tensor<77x129xf32>, %y: tensor<77x129xf32>) -> tensor<77x129xf32> {
  %none = tensor.empty() : tensor<77x129xf32>
  %z = linalg.select ins(%c, %x, %y : tensor<77x129xi1>, tensor<77x129xf32>, tensor<77x129xf32>)
    outs(%none : tensor<77x129xf32>) -> tensor<77x129xf32>
  return %z : tensor<77x129xf32>
}

// Sizes that only a run knows.
func.func @open(%x: memref<?x?xi1>, %z: memref<?x?xi1>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = memref.dim %x, %zero : memref<?x?xi1>
  %j = memref.dim %x, %one : memref<?x?xi1>
  mdh.compute (i = %i, j = %j)
    out_view(z = %z[i, j] : memref<?x?xi1>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<?x?xi1>)
  return
}

// Rows that begin anywhere.
func.func @columns(%x: memref<300x137xi1>, %z: memref<150x137xi1>) {
  %from = memref.subview %x[150, 3] [150, 131] [1, 1] : memref<300x137xi1> to memref<150x131xi1, strided<[137, 1], offset: 20553>>
  %to = memref.subview %z[0, 5] [150, 131] [1, 1] : memref<150x137xi1> to memref<150x131xi1, strided<[137, 1], offset: 5>>
  linalg.map { arith.xori } ins(%from, %from : memref<150x131xi1, strided<[137, 1], offset: 20553>>, memref<150x131xi1, strided<[137, 1], offset: 20553>>)
    outs(%to : memref<150x131xi1, strided<[137, 1], offset: 5>>)
  return
}
