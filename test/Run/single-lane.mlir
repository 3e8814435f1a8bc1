// A kept dimension of one point that has lanes and several register parts, and no place in an output: only the first lane
// of the first part has a point, and only it is stored.
//
// Without a schedule: the model gives lanes to a dimension of unknown size.
// RUN: mdh run %s --entry sums --size j=1 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry written --size j=1 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry known --random 0 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry kept_scan --size j=1 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry carried --size j=1 --random 0 --check=all 2>&1 | FileCheck %s
// RUN: mdh run %s --entry maximum --size j=1 --random 0 --check=all 2>&1 | FileCheck %s
// CHECK: check  passed
//
// Where there is no point nothing is stored.
// RUN: mdh run %s --entry written --size j=0 --random 0 --check=all 2>&1 | FileCheck %s
//
// On a GPU, the parts are threads'.
// RUN: mdh run %s --entry threads --size j=1 --random 0 --device sim --check=all 2>&1 | FileCheck %s
//
// The definition's values: sums of 1 to 3 and of 4 to 6.
// RUN: mdh run %s --entry values --in n=1 --out %t.npy
// RUN: %python -c "import numpy; print(numpy.load('%t.npy'))" | FileCheck %s --check-prefix VALUES
// VALUES: [ 6. 15.]

func.func @sums(%x: memref<100x?xf32>, %n: index, %y: memref<1xf32>) {
  mdh.compute (j = %n, r = 100)
    out_view(y = %y[0] : memref<1xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[r, j] : memref<100x?xf32>)
  return
}

func.func @written(%x: memref<8x?xf32>, %n: index, %y: memref<8xf32>) {
  mdh.compute (j = %n, k = 8)
    out_view(y = %y[k] : memref<8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[k, j] : memref<8x?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {j: *, k: *}, register {j: 2}, simd {j: 16}],
      decompose = {order: [L2.k, L2.j, register.j, simd.j]}>)
  return
}

func.func @known(%x: memref<8x1xf32>, %y: memref<8xf32>) {
  mdh.compute (j = 1, k = 8)
    out_view(y = %y[k] : memref<8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[k, j] : memref<8x1xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {j: *, k: *}, register {j: 2}, simd {j: 16}],
      decompose = {order: [L2.k, L2.j, register.j, simd.j]}>)
  return
}

// Beside a prefix sum, of a tuple, one component of which has the dimension.
func.func @kept_scan(%x: memref<40x?xi32>, %n: index, %y: memref<40xi32>, %z: memref<40x?xi8>) {
  mdh.compute (i = 40, j = %n)
    out_view(y = %y[i] : memref<40xi32>, z = %z[i, j] : memref<40x?xi8>)
    md_hom((%a: i32) {
      %j = mdh.index 1 : index
      %b = arith.index_cast %j : index to i8
      %c = arith.trunci %a : i32 to i8
      %d = arith.subi %c, %b : i8
      mdh.yield %a, %d : i32, i8
    }, (ps(addi, maxsi), cc))
    inp_view(x = %x[i, j] : memref<40x?xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, register {i: 4, j: 3}, simd {j: 8}]>)
  return
}

// What is carried out has no place for it either.
func.func @carried(%x: memref<10x8x?xf32>, %n: index, %before: memref<8xf32>, %after: memref<8xf32>, %y: memref<10x8xf32>) {
  mdh.compute (r = 10, k = 8, j = %n)
    out_view(y = %y[r, k] : memref<10x8xf32>)
    md_hom(id, (ps(addf), cc, cc))
    inp_view(x = %x[r, k, j] : memref<10x8x?xf32>)
    carry r (before = %before[k] : memref<8xf32>) -> (after = %after[k] : memref<8xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {r: *, k: *, j: *}, register {r: 5, j: 2}, simd {j: 16}]>)
  return
}

// A reduction whose valid bit has lanes.
func.func @maximum(%x: memref<50x?xf64>, %n: index, %m: memref<f64>) {
  mdh.compute (j = %n, r = 50)
    out_view(m = %m[] : memref<f64>)
    md_hom(id, (cc, pw(largest)))
    inp_view(x = %x[r, j] : memref<50x?xf64>)
    combine largest associative commutative (%a: f64, %b: f64) {
      %c = arith.maximumf %a, %b : f64
      mdh.yield %c : f64
    }
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {j: *, r: *}, register {j: 2, r: 7}, simd {j: 4}]>)
  return
}

func.func @threads(%x: memref<8x?xf32>, %n: index, %y: memref<8xf32>) {
  mdh.compute (j = %n, k = 8)
    out_view(y = %y[k] : memref<8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[k, j] : memref<8x?xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {j: *, k: *}, thread {j: 32, k: 2}, register {j: 3}]>)
  return
}

func.func @values(%n: index) -> tensor<2xf32> {
  %x = arith.constant dense<[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]> : tensor<2x3x1xf32>
  %e = tensor.empty() : tensor<2xf32>
  %y = mdh.compute (i = 2, j = %n, r = 3)
    out_view(y = %e[i] : tensor<2xf32>)
    md_hom(id, (cc, cc, pw(addf)))
    inp_view(x = %x[i, r, j] : tensor<2x3x1xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *, r: *}, register {j: 2}, simd {j: 16}]>)
  return %y : tensor<2xf32>
}
