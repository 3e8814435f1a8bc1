// Histograms of every kind, held against the definition: sizes at which cores have bins of their
// own, sizes known at run time only, none at all, values that fall into no bin.
//
// RUN: mdh run %s --entry weights --random 1 --range 0.5..1.5 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=66000 --size b=10 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=70001 --size b=3 --random 2 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=7 --size b=100 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=0 --size b=100 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=70001 --size b=0 --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry extremes --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry last --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry image --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry some --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry onto --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry any --size i=70001 --size b=2 --random 1 --check-each-step | FileCheck %s
// CHECK: check{{.*}}passed

// Sums of floats; bins from -3 on; of the values a third falls into none.
func.func @weights(%key: tensor<70000xi32>, %w: tensor<70000xf32>) -> tensor<7xf32> {
  %none = tensor.empty() : tensor<7xf32>
  %h = mdh.compute (b = -3 to 4, i = 70000)
    out_view(h = %none[b + 3] : tensor<7xf32>)
    md_hom((%k: i32, %e: f32) {
      %eleven = arith.constant 11 : i32
      %five = arith.constant 5 : i32
      %zero = arith.constant 0.0 : f32
      %modulo = arith.remui %k, %eleven : i32
      %bin32 = arith.subi %modulo, %five : i32
      %bin = arith.index_cast %bin32 : i32 to index
      %b = mdh.index 0 : index
      %other = arith.cmpi ne, %bin, %b : index
      %value = arith.select %other, %zero, %e : f32
      mdh.yield %value : f32
    }, (cc, pw(addf)))
    inp_view(key = %key[i] : tensor<70000xi32>, w = %w[i] : tensor<70000xf32>)
  return %h : tensor<7xf32>
}

// Bins and values as many as the sizes say at run time; one point's index counts as its value.
func.func @any(%x: memref<?xi64>, %h: memref<?xi64>) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xi64>
  %bins = memref.dim %h, %zero : memref<?xi64>
  mdh.compute (b = %bins, i = %n)
    out_view(h = %h[b] : memref<?xi64>)
    md_hom((%e: i64) {
      %most = arith.constant 127 : i64
      %nothing = arith.constant 0 : i64
      %masked = arith.andi %e, %most : i64
      %b = mdh.index 0 : index
      %i = mdh.index 1 : index
      %wide = arith.index_cast %b : index to i64
      %number = arith.index_cast %i : index to i64
      %here = arith.cmpi eq, %masked, %wide : i64
      %value = arith.select %here, %number, %nothing : i64
      mdh.yield %value : i64
    }, (cc, pw(xori)))
    inp_view(x = %x[i] : memref<?xi64>)
  return
}

// The smallest, the largest and the number of what falls into a bin; branches, of which one has
// code of its own.
func.func @extremes(%x: tensor<66000xi16>)
    -> (tensor<9xf64>, tensor<9xi16>, tensor<9xi32>) {
  %no_least = tensor.empty() : tensor<9xf64>
  %no_most = tensor.empty() : tensor<9xi16>
  %no_count = tensor.empty() : tensor<9xi32>
  %least, %most, %count = mdh.compute (b = 9, i = 66000)
    out_view(least = %no_least[b] : tensor<9xf64>, most = %no_most[8 - b] : tensor<9xi16>,
             count = %no_count[b] : tensor<9xi32>)
    md_hom((%e: i16) {
      %modulus = arith.constant 10 : i16
      %bin = arith.remui %e, %modulus : i16
      %b = mdh.index 0 : index
      %b16 = arith.index_cast %b : index to i16
      %here = arith.cmpi eq, %b16, %bin : i16
      %inf = arith.constant 0x7FF0000000000000 : f64
      %smallest = arith.constant -32768 : i16
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %least, %most = scf.if %here -> (f64, i16) {
        %float = arith.sitofp %e : i16 to f64
        %root = arith.divf %float, %float : f64
        %all = arith.mulf %root, %float : f64
        scf.yield %all, %e : f64, i16
      } else {
        scf.yield %inf, %smallest : f64, i16
      }
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %least, %most, %count : f64, i16, i32
    }, (cc, pw(minimumf, maxsi, addi)))
    inp_view(x = %x[i] : tensor<66000xi16>)
  return %least, %most, %count : tensor<9xf64>, tensor<9xi16>, tensor<9xi32>
}

// The last value that falls into a bin: the order counts, and cores keep it.
mdh.combine @right associative neutral(-1 : i32) (%x: i32, %y: i32) {
  %none = arith.constant -1 : i32
  %is_none = arith.cmpi eq, %y, %none : i32
  %kept = arith.select %is_none, %x, %y : i32
  mdh.yield %kept : i32
}
func.func @last(%x: tensor<70000xi32>) -> tensor<11xi32> {
  %init = tensor.empty() : tensor<11xi32>
  %points = mdh.inp_view (b = 11, i = 70000) (%x[i] : tensor<70000xi32>)
          : !mdh.mda<11x70000, i32>
  %all = mdh.hom((%e: i32) {
      %modulus = arith.constant 1000 : i32
      %none = arith.constant -1 : i32
      %bin32 = arith.remui %e, %modulus : i32
      %bin = arith.index_cast %bin32 : i32 to index
      %b = mdh.index 0 : index
      %i = mdh.index 1 : index
      %number = arith.index_cast %i : index to i32
      %here = arith.cmpi eq, %bin, %b : index
      %value = arith.select %here, %number, %none : i32
      mdh.yield %value : i32
  }, (cc, pw(@right))) %points : !mdh.mda<11x70000, i32> -> !mdh.mda<11x1, i32>
  %h = mdh.out_view (b, i) %all -> (h = %init[b] : tensor<11xi32>) : !mdh.mda<11x1, i32>
  return %h : tensor<11xi32>
}

// Values in two dimensions, of which one is read against the order of memory, a histogram for
// each of three channels; every second row counts.
func.func @image(%x: tensor<3x300x200xi8>) -> tensor<256x3xi64> {
  %none = tensor.empty() : tensor<256x3xi64>
  %h = mdh.compute (c = 3, b = 256, j = 200, i = 0 to 300 step 2)
    out_view(h = %none[b, c] : tensor<256x3xi64>)
    md_hom((%e: i8) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %bin = arith.index_castui %e : i8 to index
      %b = mdh.index 1 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, cc, pw(addi), pw(addi)))
    inp_view(x = %x[c, i, j] : tensor<3x300x200xi8>)
  return %h : tensor<256x3xi64>
}

// A histogram for each row: cores share the rows.
func.func @rows(%x: tensor<101x1000xi32>) -> tensor<101x8xi32> {
  %none = tensor.empty() : tensor<101x8xi32>
  %h = mdh.compute (r = 101, b = 8, i = 1000)
    out_view(h = %none[100 - r, b] : tensor<101x8xi32>)
    md_hom((%e: i32) {
      %zero = arith.constant 0 : i32
      %seven = arith.constant 7 : i32
      %bits = arith.andi %e, %seven : i32
      %bin = arith.index_cast %bits : i32 to index
      %b = mdh.index 1 : index
      %r = mdh.index 0 : index
      %amount = arith.index_cast %r : index to i32
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %amount, %zero : i32
      mdh.yield %count : i32
    }, (cc, cc, pw(addi)))
    inp_view(x = %x[r, i] : tensor<101x1000xi32>)
  return %h : tensor<101x8xi32>
}

// Which bins have a value that is negative.
func.func @some(%x: tensor<70000xi32>) -> tensor<7xi1> {
  %none = tensor.empty() : tensor<7xi1>
  %h = mdh.compute (b = 7, i = 70000)
    out_view(h = %none[b] : tensor<7xi1>)
    md_hom((%e: i32) {
      %zero = arith.constant 0 : i32
      %mask = arith.constant 7 : i32
      %bits = arith.andi %e, %mask : i32
      %bin = arith.index_cast %bits : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %is_negative = arith.cmpi slt, %e, %zero : i32
      %both = arith.andi %here, %is_negative : i1
      mdh.yield %both : i1
    }, (cc, pw(ori)))
    inp_view(x = %x[i] : tensor<70000xi32>)
  return %h : tensor<7xi1>
}

// Added to what is there.
func.func @onto(%x: memref<50000xi32>, %before: memref<16xi32>, %h: memref<16xi32>) {
  mdh.compute (b = 16, i = 50000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %zero = arith.constant 0 : i32
      %mask = arith.constant 15 : i32
      %bits = arith.andi %e, %mask : i32
      %bin = arith.index_cast %bits : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %e, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<50000xi32>)
    carry i (before = %before[b] : memref<16xi32>)
  return
}
