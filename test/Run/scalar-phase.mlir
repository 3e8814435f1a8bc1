// The scalar function reads and writes where tiles are not (S3 to S6): what it reads is copied once
// more, and what it writes is copied from there.
// RUN: mdh run %s --entry inside --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry apart --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry blocks --random 1 --check | FileCheck %s
// CHECK: check  passed: 77 of 77 elements compared
// RUN: mdh run %s --entry leaf --random 1 --check | FileCheck %s --check-prefix LEAF
// LEAF: check  passed: 11 of 11 elements compared
// RUN: mdh run %s --entry points --random 1 --check | FileCheck %s --check-prefix LEAF
// RUN: mdh-opt %s --mdh-tiles | FileCheck %s --check-prefix IR

// Tiles of x are in L2, and read in L1, transposed; results go through L1, padded.
#inside = #mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, L1 {i: 2}, register {j: 3}],
  decompose = {order: [L2.i, L2.j, L1.i, register.j]},
  inputs = {x: {stage: {L2.j: L2}, scalar: L1, scalar_layout: permuted(2, 1)}},
  outputs = {y: {scalar: L1, scalar_layout: padded(0, 1)}}>
// IR-LABEL: @inside
// IR-DAG: memref.alloc() {{.*}} : memref<2x7xf32, #mdh.memory<"L2">>
// IR-DAG: memref.alloc() {{.*}} : memref<3x1xf32, #mdh.memory<"L1">>
// IR-DAG: memref.alloc() {{.*}} : memref<1x4xf32, #mdh.memory<"L1">>
// IR: mdh.level = "L1.i"

// A copy of all of x is left by the loops of the de-composition, in L2; the scalar function reads it
// in L1.
#apart = #mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, L1 {i: 2, j: 3}],
  decompose = {order: [L2.j, L2.i, L1.j, L1.i]}, scalar = {order: [L2.i, L2.j, L1.i, L1.j]},
  inputs = {x: {stage: {L1.i: L2}, scalar: L1, scalar_layout: padded(1, 1)}}>
// IR-LABEL: @apart
// IR-DAG: memref.alloc() {{.*}} : memref<11x7xf32, #mdh.memory<"L2">>
// IR-DAG: memref.alloc() {{.*}} : memref<2x2xf32, #mdh.memory<"L1">>

// What nests leave for each other lies in blocks.
#blocks = #mdh.schedule<asm = cpu, layers = [L2 {i: *, j: *}, L1 {i: 2, j: 3}],
  decompose = {order: [L2.j, L2.i, L1.j, L1.i]}, scalar = {order: [L2.i, L2.j, L1.i, L1.j]},
  inputs = {x: {stage: {L1.i: L2}, layout: {L1.i: blocked(4, 2)}}}>
// IR-LABEL: @blocks
// IR-DAG: memref.alloc() {{.*}} : memref<96xf32, #mdh.memory<"L2">>

// No loop outside of registers: all is copied before.
#leaf = #mdh.schedule<asm = cpu, layers = [register {i: *, k: 4}],
  decompose = {order: [register.k, register.i]},
  inputs = {x: {scalar: L1}}, outputs = {y: {scalar: L2}}>
// IR-LABEL: @leaf
// IR-DAG: memref.alloc() {{.*}} : memref<11x4xf32, #mdh.memory<"L1">>
// IR-DAG: memref.alloc() {{.*}} : memref<11xf32, #mdh.memory<"L2">>

func.func @inside(%x: memref<11x7xf32>, %y: memref<11x7xf32>) {
  mdh.compute (i = 11, j = 7)
    out_view(y = %y[i, j] : memref<11x7xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<11x7xf32>)
    schedule(#inside)
  return
}

func.func @apart(%x: memref<11x7xf32>, %y: memref<11x7xf32>) {
  mdh.compute (i = 11, j = 7)
    out_view(y = %y[i, j] : memref<11x7xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<11x7xf32>)
    schedule(#apart)
  return
}

func.func @blocks(%x: memref<11x7xf32>, %y: memref<11x7xf32>) {
  mdh.compute (i = 11, j = 7)
    out_view(y = %y[i, j] : memref<11x7xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<11x7xf32>)
    schedule(#blocks)
  return
}

func.func @leaf(%x: memref<11x4xf32>, %y: memref<11xf32>) {
  mdh.compute (i = 11, k = 4)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x4xf32>)
    schedule(#leaf)
  return
}

// Tiles of one point have no gaps, whatever is written as the width of a group of them.
func.func @points(%x: memref<11x7xf32>, %y: memref<11xf32>) {
  %one = arith.constant 1 : index
  mdh.compute (i = 11, k = 7 width %one)
    out_view(y = %y[i] : memref<11xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<11x7xf32>)
    schedule(#mdh.schedule<asm = cpu, inputs = {x: {scalar: L1}}>)
  return
}
