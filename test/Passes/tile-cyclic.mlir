// Cyclic parts, those of an outer layer inside of those of an inner one: tiles have gaps, until
// the last of these levels is open. What no domain is, or needs the order of its points, is refused.
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-tile --canonicalize --cse | FileCheck %s

// Parts of three rows of the first six, then these of each six; columns alike, of which cores have
// partial sums.
// CHECK-LABEL: func.func @sums
// CHECK:       scf.for %[[I:.*]] = %c0 to %c6 step %c3 {
// CHECK:         scf.forall (%[[J:.*]]) = (%[[I]]) to (20) step (6) {
// CHECK:           scf.for %[[K:.*]] = %c0 to %c4 step %c2 {
// CHECK:             scf.forall (%[[L:.*]]) = (%[[K]]) to (7) step (4) {
// CHECK:               mdh.compute (i = %[[J]] to %{{.*}}, k = %[[L]] to %{{.*}})
// CHECK:                 layers = [register {i: 3, k: 2}]
// CHECK:               {mapping = [{{.*}}], mdh.level = "core.k"}
// CHECK:             mdh.compute (i = %[[J]] to %{{.*}}, part = %{{.*}})
// CHECK:             {mdh.level = "L1.k"}
func.func @sums(%x: memref<20x7xf32>, %y: memref<20xf32>) {
  mdh.compute (i = 20, k = 7)
    out_view(y = %y[i] : memref<20xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : memref<20x7xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [core {i: *, k: *}, L1 {i: 2, k: 2}, register {i: 3, k: 2}],
      decompose = {order: [L1.i, core.i, L1.k, core.k, register.i, register.k]}>)
  return
}

// What is copied there reaches over the gaps.
// CHECK-LABEL: func.func @staged
// CHECK:       memref.alloc() {alignment = 64 : i64} : memref<15xf32, #mdh.memory<"L1">>
// CHECK:       scf.for %[[I:.*]] = %c0 to %c6 step %c3 {
// CHECK:         mdh.compute (c0 = 15)
// CHECK:         scf.for %{{.*}} = %[[I]] to %c16 step %c6 {
func.func @staged(%x: memref<16xf32>, %y: memref<16xf32>) {
  mdh.compute (i = 16)
    out_view(y = %y[i] : memref<16xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<16xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: 3}, L1 {i: 2}, register {i: 3}],
      decompose = {order: [L1.i, L2.i, register.i]}, inputs = {x: {stage: {L2.i: L1}}}>)
  return
}

// -----
func.func @scan(%x: memref<20xf32>, %y: memref<20xf32>) {
  // expected-error @below {{has a schedule with cyclic parts, in the order 'L1.i', 'L2.i': expected the outer layers of a prefix-sum's dimension outside}}
  mdh.compute (i = 20)
    out_view(y = %y[i] : memref<20xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : memref<20xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 2}], decompose = {order: [L1.i, L2.i]}>)
  return
}

// -----
func.func @last(%x: memref<20xi64>, %y: memref<i64>) {
  // expected-error @below {{expected the outer layers outside in a dimension that an operator combines which is not commutative}}
  mdh.compute (i = 20)
    out_view(y = %y[] : memref<i64>)
    md_hom(id, (pw(second)))
    inp_view(x = %x[i] : memref<20xi64>)
    combine second associative (%a: i64, %b: i64) {
      mdh.yield %b : i64
    }
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 2}], decompose = {order: [L1.i, L2.i]},
      recompose = {order: [L2.i, L1.i]}>)
  return
}

// -----
func.func @gaps(%x: memref<48xf32>, %y: memref<48xf32>) {
  // expected-error @below {{in the order 'L1.i', 'L3.i', 'L2.i', 'main.i': expected gaps of one size: no level between two others that are inside of it}}
  mdh.compute (i = 48)
    out_view(y = %y[i] : memref<48xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<48xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: 3}, L3 {i: 2}, L2 {i: 4}, L1 {i: 2}],
      decompose = {order: [L1.i, L3.i, L2.i, main.i]}>)
  return
}

// -----
func.func @groups(%x: memref<48xf32>, %y: memref<48xf32>) {
  // expected-error @below {{expected a dimension whose points are at equal distances}}
  mdh.compute (i = 48 step 6 width 4)
    out_view(y = %y[i] : memref<48xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<48xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {i: 4}], decompose = {order: [L1.i, L2.i]}>)
  return
}

// -----
func.func @apart(%x: memref<48xf32>, %y: memref<48xf32>) {
  // expected-error @below {{expected neighbours, or loops inside of which single points are left}}
  mdh.compute (i = 48 step 2)
    out_view(y = %y[i] : memref<48xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<48xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L3 {i: *}, L2 {i: 2}, L1 {i: 3}],
      decompose = {order: [L2.i, L3.i, L1.i]}>)
  return
}
