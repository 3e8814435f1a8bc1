// Tiles of dimensions whose points come in groups: parts of one point, or so many that they divide
// a group, have no gaps.
// RUN: mdh run %s --entry points --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry halves --random 1 --check | FileCheck %s
// CHECK: check  passed
// RUN: mdh-opt %s --mdh-tiles | FileCheck %s --check-prefix IR

// Seven points, in groups of three of which the last is cut.
#points = #mdh.schedule<asm = cpu, layers = [L2 {i: *}]>
// IR-LABEL: @points
// IR: scf.for
// IR: mdh.compute (i = {{.*}} to {{[^ ,]*}})
func.func @points(%x: memref<12xf32>, %y: memref<12xf32>) {
  mdh.compute (i = 1 to 12 step 5 width 3)
    out_view(y = %y[i] : memref<12xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<12xf32>)
    schedule(#points)
  return
}

// Cores have halves of groups of four, and add up what they have.
#halves = #mdh.schedule<asm = cpu, layers = [core {i: *}, L1 {i: 2}]>
// IR-LABEL: @halves
// IR: scf.forall
func.func @halves(%x: memref<21xf32>, %y: memref<f32>) {
  mdh.compute (i = 21 step 6 width 4)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(addf)))
    inp_view(x = %x[i] : memref<21xf32>)
    schedule(#halves)
  return
}
