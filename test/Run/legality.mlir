// What stands between computations is followed by definition: slices, loops, branches, elements.
//
// RUN: mdh run %s --entry slices --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry views --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry element --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry steps --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry branch --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry carried --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry stores --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry inserts --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry until --random 1 --check | FileCheck %s
// RUN: not mdh run %s --entry overlap --random 1 --check 2>&1 | FileCheck %s --check-prefix OVERLAP
// CHECK: check{{.*}}passed

// Every second row but the first goes, scaled, into the columns from 1 on; a row by itself.
func.func @slices(%x: tensor<8x4xf32>, %into: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  %two = arith.constant 2 : index
  %rows = tensor.extract_slice %x[1, 0] [4, 4] [%two, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %none = tensor.empty() : tensor<4x4xf32>
  %y = mdh.compute (i = 4, j = 4)
    out_view(y = %none[i, j] : tensor<4x4xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %rows[i, j][j, i] : tensor<4x4xf32>)
  %z = tensor.insert_slice %y into %into[0, 1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x6xf32>
  %row = tensor.extract_slice %z[%two, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  %single = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = 6)
    out_view(s = %single[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %row[i] : tensor<6xf32>)
  return %z, %s : tensor<4x6xf32>, tensor<f32>
}

// Two subviews that meet: what goes through the one is read through the other.
func.func @views(%x: memref<8xi32>, %y: memref<8xi32>) {
  %left = memref.subview %y[0] [6] [1] : memref<8xi32> to memref<6xi32, strided<[1]>>
  %right = memref.subview %y[2] [3] [2] : memref<8xi32> to memref<3xi32, strided<[2], offset: 2>>
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xi32>)
    md_hom(id, (ps(addi)))
    inp_view(x = %x[7 - i] : memref<8xi32>)
  mdh.compute (i = 6)
    out_view(y = %left[i] : memref<6xi32, strided<[1]>>)
    md_hom(muli, (cc))
    inp_view(x = %x[i][i + 1] : memref<8xi32>)
  mdh.compute (i = 3)
    out_view(y = %y[i] : memref<8xi32>)
    md_hom(id, (cc))
    inp_view(x = %right[i] : memref<3xi32, strided<[2], offset: 2>>)
  return
}

// A sum that is there only after it was computed, and arithmetic on it.
func.func @element(%x: tensor<9xf32>) -> tensor<9xf32> {
  %none = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = 9)
    out_view(s = %none[] : tensor<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : tensor<9xf32>)
  %sum = tensor.extract %s[] : tensor<f32>
  %nine = arith.constant 9.0 : f32
  %mean = arith.divf %sum, %nine : f32
  %y = tensor.empty() : tensor<9xf32>
  %z = mdh.compute (i = 9)
    out_view(y = %y[i] : tensor<9xf32>)
    md_hom(subf, (cc))
    inp_view(x = %x[i] : tensor<9xf32>, mean = %mean[] : f32)
  return %z : tensor<9xf32>
}

// Five steps of a stencil, each from what the one before left; one of them is kept in a row.
func.func @steps(%x: memref<12xf32>, %rows: memref<5x12xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  scf.for %t = %zero to %five step %one {
    %row = memref.subview %rows[%t, 0] [1, 12] [1, 1]
         : memref<5x12xf32> to memref<12xf32, strided<[1], offset: ?>>
    mdh.compute (i = 12)
      out_view(row = %row[i] : memref<12xf32, strided<[1], offset: ?>>)
      md_hom(addf, (cc))
      inp_view(x = %x[i - 1][i + 1] pad(0.0 : f32) : memref<12xf32>)
    memref.copy %row, %x : memref<12xf32, strided<[1], offset: ?>> to memref<12xf32>
  }
  return
}

// An element decides.
func.func @branch(%x: tensor<5xi32>) -> tensor<5xi32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %e = tensor.extract %x[%one] : tensor<5xi32>
  %positive = arith.cmpi sgt, %e, %zero : i32
  %y = scf.if %positive -> (tensor<5xi32>) {
    %none = tensor.empty() : tensor<5xi32>
    %v = mdh.compute (i = 5)
      out_view(v = %none[i] : tensor<5xi32>)
      md_hom(id, (ps(addi)))
      inp_view(x = %x[i] : tensor<5xi32>)
    scf.yield %v : tensor<5xi32>
  } else {
    scf.yield %x : tensor<5xi32>
  }
  return %y : tensor<5xi32>
}

// A stencil whose old and new tensor change places, and a sum over all steps.
func.func @carried(%x: tensor<12xf32>, %y: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %l:3 = scf.for %t = %zero to %five step %one iter_args(%old = %x, %new = %y, %all = %x)
      -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) {
    %next = mdh.compute (i = 1 to 11)
      out_view(next = %new[i] : tensor<12xf32>)
      md_hom(subf, (cc))
      inp_view(old = %old[i - 1][i + 1] : tensor<12xf32>)
    %sum = mdh.compute (i = 12)
      out_view(sum = %all[i] : tensor<12xf32>)
      md_hom(addf, (cc))
      inp_view(all = %all[i] : tensor<12xf32>, next = %next[i] : tensor<12xf32>)
    scf.yield %next, %old, %sum : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  }
  return %l#0, %l#2 : tensor<12xf32>, tensor<12xf32>
}

// Elements one by one, of a subview too; what is stored is loaded again, and computed with.
func.func @stores(%x: memref<6xi32>, %y: memref<6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %odd = memref.subview %y[1] [3] [2] : memref<6xi32> to memref<3xi32, strided<[2], offset: 1>>
  mdh.compute (i = 6)
    out_view(y = %y[i] : memref<6xi32>)
    md_hom(addi, (cc))
    inp_view(x = %x[i][5 - i] : memref<6xi32>)
  %e = memref.load %y[%c5] : memref<6xi32>
  memref.store %e, %odd[%c1] : memref<3xi32, strided<[2], offset: 1>>
  scf.for %i = %c0 to %c5 step %c1 {
    %a = memref.load %y[%i] : memref<6xi32>
    %next = arith.addi %i, %c1 : index
    %b = memref.load %x[%next] : memref<6xi32>
    %c = arith.subi %a, %b : i32
    memref.store %c, %x[%next] : memref<6xi32>
  }
  mdh.compute (i = 6)
    out_view(y = %y[i] : memref<6xi32>)
    md_hom(id, (ps(addi)))
    inp_view(x = %x[i] : memref<6xi32>)
  return
}

func.func @inserts(%x: tensor<4x2xf32>, %e: f32) -> (tensor<4x2xf32>, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = tensor.insert %e into %x[%c2, %c1] : tensor<4x2xf32>
  %none = tensor.empty() : tensor<4xf32>
  %s = mdh.compute (i = 4, j = 2)
    out_view(s = %none[i] : tensor<4xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(y = %y[i, j] : tensor<4x2xf32>)
  return %y, %s : tensor<4x2xf32>, tensor<4xf32>
}

// Sums of neighbours until the first one is large: how often is for the elements to say.
func.func @until(%x: tensor<8xi64>, %y: tensor<8xi64>) -> (tensor<8xi64>, i64) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %limit = arith.constant 100000 : i64
  %r:3 = scf.while (%old = %x, %new = %y, %steps = %one)
      : (tensor<8xi64>, tensor<8xi64>, i64) -> (tensor<8xi64>, tensor<8xi64>, i64) {
    %e = tensor.extract %old[%c0] : tensor<8xi64>
    %size = math.absi %e : i64
    %small = arith.cmpi slt, %size, %limit : i64
    %few = arith.cmpi slt, %steps, %limit : i64
    %more = arith.andi %small, %few : i1
    scf.condition(%more) %old, %new, %steps : tensor<8xi64>, tensor<8xi64>, i64
  } do {
  ^bb0(%old: tensor<8xi64>, %new: tensor<8xi64>, %steps: i64):
    %next = mdh.compute (i = 8)
      out_view(next = %new[i] : tensor<8xi64>)
      md_hom((%a: i64, %b: i64, %c: i64) {
        %ab = arith.addi %a, %b : i64
        %abc = arith.addi %ab, %c : i64
        %d = arith.addi %abc, %abc : i64
        mdh.yield %d : i64
      }, (cc))
      inp_view(old = %old[i][i - 1][i + 1] pad(7 : i64) : tensor<8xi64>)
    %after = arith.addi %steps, %one : i64
    scf.yield %next, %old, %after : tensor<8xi64>, tensor<8xi64>, i64
  }
  return %r#0, %r#2 : tensor<8xi64>, i64
}

// What is written overlaps what is read, which no verifier sees: a loop goes from point to point,
// and the definition does not.
// OVERLAP-DAG: check {{.*}}FAILED
// OVERLAP-DAG: error: the result is not what the definition says: 'x' at
func.func @overlap(%x: memref<81xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  scf.for %t = %zero to %two step %one {
    %left = memref.subview %x[0] [80] [1] : memref<81xi32> to memref<80xi32, strided<[1]>>
    %right = memref.subview %x[1] [80] [1]
           : memref<81xi32> to memref<80xi32, strided<[1], offset: 1>>
    mdh.compute (i = 80)
      out_view(right = %right[i] : memref<80xi32, strided<[1], offset: 1>>)
      md_hom(addi, (cc))
      inp_view(left = %left[i][i] : memref<80xi32, strided<[1]>>)
  }
  return
}
