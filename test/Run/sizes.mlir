// Sizes at which cores share the work and inputs are packed, and which no block divides.
//
// RUN: mdh run %s --entry product --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=203 --size j=517 --size k=1031 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry sums --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry scan --random 1 --check | FileCheck %s
// CHECK: check{{.*}}passed

func.func @product(%A: tensor<256x1024xf32>, %B: tensor<1024x512xf32>) -> tensor<256x512xf32> {
  %none = tensor.empty() : tensor<256x512xf32>
  %C = mdh.compute (i = 256, j = 512, k = 1024)
    out_view(C = %none[i, j] : tensor<256x512xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<256x1024xf32>, B = %B[k, j] : tensor<1024x512xf32>)
  return %C : tensor<256x512xf32>
}

func.func @any(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = memref.dim %A, %zero : memref<?x?xf64>
  %k = memref.dim %A, %one : memref<?x?xf64>
  %j = memref.dim %B, %one : memref<?x?xf64>
  mdh.compute (i = %i, j = %j, k = %k)
    out_view(C = %C[i, j] : memref<?x?xf64>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf64>, B = %B[k, j] : memref<?x?xf64>)
  return
}

func.func @sums(%x: tensor<100003xf32>) -> tensor<f32> {
  %none = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = 100003)
    out_view(s = %none[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : tensor<100003xf32>)
  return %s : tensor<f32>
}

func.func @scan(%x: tensor<100003xi64>) -> tensor<100003xi64> {
  %none = tensor.empty() : tensor<100003xi64>
  %y = mdh.compute (i = 100003)
    out_view(y = %none[i] : tensor<100003xi64>)
    md_hom(id, (ps(addi)))
    inp_view(x = %x[i] : tensor<100003xi64>)
  return %y : tensor<100003xi64>
}
