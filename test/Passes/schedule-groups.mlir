// Domains whose points come in groups with gaps between them get schedules: parts are whole groups,
// or parts of one.
//
// RUN: %python %S/../Run/Inputs/npy.py save %t.x.npy f4 "np.arange(3100)"
// RUN: mdh-opt %s "--mdh-schedule=asm=cpu cores=4 grain=1000" | FileCheck %s
// RUN: mdh-opt %s "--mdh-schedule=asm=cpu cores=4 grain=1000" 2>&1 >/dev/null | FileCheck %s --check-prefix REMARK
// RUN: mdh-opt %s "--mdh-schedule=asm=cuda" | FileCheck %s --check-prefix GPU
// RUN: mdh run %s --entry rows --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry groups --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry sums --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry prefixes --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry any --in %t.x.npy 3001 --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry any --in %t.x.npy 0 --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry width --in %t.x.npy 3001 --random 1 --check | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry rows --random 1 --check-each-step | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry sums --random 1 --check-each-step | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry rows --random 1 --check --device sim | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry groups --random 1 --check --device sim | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry sums --random 1 --check --device sim | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry prefixes --random 1 --check --device sim | FileCheck %s --check-prefix PASSED
// RUN: mdh run %s --entry any --in %t.x.npy 3001 --random 1 --check --device sim | FileCheck %s --check-prefix PASSED
// PASSED: passed

// Cores get groups of rows, lanes go along the columns.
// CHECK-LABEL: func.func @rows(
// CHECK: asm = cpu
// CHECK-NEXT: layers = [core {i: *}, L2 {i: 17, j: *}, L1 {i: 3}, simd {j: 16}]
// GPU-LABEL: func.func @rows(
// GPU: asm = cuda
// GPU-NEXT: layers = [block {i: *, j: *}, thread {j: 256}
func.func @rows(%x: memref<331x300xf32>, %y: memref<331x300xf32>) {
  mdh.compute (i = 1 to 331 step 5 width 3, j = 300)
    out_view(y = %y[i, j] : memref<331x300xf32>)
    md_hom(addf, (cc, cc))
    inp_view(x = %x[i, j][i - 1, j] : memref<331x300xf32>)
  return
}

// Lanes within a group; the last one is cut.
// CHECK-LABEL: func.func @groups(
// CHECK: asm = cpu
// CHECK-NEXT: layers = [core {i: 4}, L2 {i: *, j: *}, L1 {j: 3}, simd {j: 8}]
// GPU-LABEL: func.func @groups(
// GPU: asm = cuda
// GPU-NEXT: layers = [block {i: *, j: *}, thread {i: 64, j: 4}
func.func @groups(%x: memref<40x500xf32>, %y: memref<40x500xf32>) {
  mdh.compute (i = 40, j = 3 to 500 step 31 width 24)
    out_view(y = %y[i, j] : memref<40x500xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<40x500xf32>)
  return
}

// What is combined has groups, too.
// CHECK-LABEL: func.func @sums(
// CHECK: asm = cpu
// CHECK-NEXT: layers = [core {i: 4}, L2 {i: *, k: *}, L1 {k: 2}, simd {i: 16}]
// GPU-LABEL: func.func @sums(
// GPU: asm = cuda
// GPU-NEXT: layers = [device {k: *}, block {i: *}, thread {i: 256}]
func.func @sums(%x: memref<200x99xf32>, %y: memref<200xf32>) {
  mdh.compute (i = 200, k = 99 step 3 width 2)
    out_view(y = %y[i] : memref<200xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<200x99xf32>)
  return
}

// CHECK-LABEL: func.func @prefixes(
// CHECK: asm = cpu
// CHECK-NEXT: layers = [core {i: *}, L2 {i: 5, k: *}, L1 {i: 4, k: 2}
func.func @prefixes(%x: memref<120x99xi32>, %y: memref<120x99xi32>) {
  mdh.compute (i = 120 step 7 width 4, k = 99 step 3 width 2)
    out_view(y = %y[i, k] : memref<120x99xi32>)
    md_hom(id, (cc, ps(addi)))
    inp_view(x = %x[i, k] : memref<120x99xi32>)
  return
}

// Bounds and a step that are known at run time only.
// CHECK-LABEL: func.func @any(
// CHECK: asm = cpu
// CHECK-NEXT: layers = [core {i: *}, L2 {i: 256}, L1 {i: 1}, simd {i: 4}]
// GPU-LABEL: func.func @any(
// GPU: asm = cuda
// GPU-NEXT: layers = [block {i: *}, thread {i: 256}
func.func @any(%x: memref<3100xf32>, %n: index, %y: memref<3100xf32>) {
  mdh.compute (i = 0 to %n step 7 width 4)
    out_view(y = %y[i] : memref<3100xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<3100xf32>)
  return
}

// A width that is known at run time only: it is not known where parts start.
// CHECK-LABEL: func.func @width(
// CHECK-NOT: schedule(
// REMARK: remark: stays without a schedule: it has no points, or a dimension whose width is not known
func.func @width(%x: memref<3100xf32>, %n: index, %y: memref<3100xf32>) {
  %w = arith.constant 3 : index
  %two = arith.constant 2 : index
  %rest = arith.remui %n, %two : index
  %width = arith.addi %rest, %w : index
  mdh.compute (i = 0 to %n step 7 width %width)
    out_view(y = %y[i] : memref<3100xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<3100xf32>)
  return
}
