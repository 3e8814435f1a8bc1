// Why producers stay where they are.
//
// RUN: mdh-opt %s --mdh-fuse --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed /expected-remark/d %s | mdh-opt --canonicalize --split-input-file | FileCheck %s

// Results that are there only when all points are.
// CHECK-LABEL: @combined
// CHECK-COUNT-2: = mdh.compute
func.func @combined(%x: tensor<8x5xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %p = mdh.compute (i = 8, k = 5)
    out_view(e = %y[i] : tensor<8xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, k] : tensor<8x5xf32>)
  // expected-remark @+1 {{input 'p' is not fused with its producer: its producer combines dimension 'k', and a combined value is there only once all of its points are}}
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(p = %p[i] : tensor<8xf32>)
  return %0 : tensor<8xf32>
}

// -----
// A stencil, and a broadcast over another dimension: elements are read more than once.
// CHECK-LABEL: @again
// CHECK-COUNT-2: = mdh.compute
func.func @again(%x: tensor<10xf32>, %y: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %e = tensor.empty() : tensor<10xf32>
  %p = mdh.compute (i = 10)
    out_view(e = %e[i] : tensor<10xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<10xf32>)
  // expected-remark @+1 {{input 'p' is not fused with its producer: its elements are read more than once: they would be computed as often}}
  %0 = mdh.compute (i = 8, j = 3)
    out_view(y = %y[i, j] : tensor<8x3xf32>)
    md_hom(addf, (cc, cc))
    inp_view(p = %p[i + j][i + 2] : tensor<10xf32>)
  return %0 : tensor<8x3xf32>
}

// -----
// Another use.
// CHECK-LABEL: @used
// CHECK-COUNT-2: = mdh.compute
func.func @used(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %p = mdh.compute (i = 8)
    out_view(e = %y[i] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  // expected-remark @+1 {{input 'p' is not fused with its producer: its producer's results have other uses: it would be computed twice}}
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[i] : tensor<8xf32>)
  return %0, %p : tensor<8xf32>, tensor<8xf32>
}

// -----
// In a loop.
// CHECK-LABEL: @loop
// CHECK-COUNT-2: = mdh.compute
func.func @loop(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index, %m: index) -> tensor<8xf32> {
  %p = mdh.compute (i = 8)
    out_view(e = %y[i] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %w = scf.for %i = %n to %m step %n iter_args(%z = %y) -> (tensor<8xf32>) {
    // expected-remark @+1 {{input 'p' is not fused with its producer: its producer stands in another block, and may run less often}}
    %0 = mdh.compute (i = 8)
      out_view(y = %z[i] : tensor<8xf32>)
      md_hom(id, (ps(addf)))
      inp_view(p = %p[i] : tensor<8xf32>)
    scf.yield %0 : tensor<8xf32>
  }
  return %w : tensor<8xf32>
}

// -----
// Elements that the producer does not write: the destination's, outside of the domain, padding.
// CHECK-LABEL: @unwritten
// CHECK-COUNT-4: = mdh.compute
func.func @unwritten(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %p = mdh.compute (i = 8 step 2)
    out_view(e = %y[i] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %q = mdh.compute (i = 1 to 8)
    out_view(e = %y[i] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %r = mdh.compute (j = 8)
    out_view(e = %y[j] : tensor<8xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[j] : tensor<8xf32>)
  // expected-remark @+3 {{input 'p' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'i')}}
  // expected-remark @+2 {{input 'q' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'i')}}
  // expected-remark @+1 {{input 'r' is not fused with its producer: it is not known to be read only where its producer writes it (in dimension 'j')}}
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom((%a: f32, %b: f32, %c: f32) {
      %d = arith.addf %a, %b : f32
      %f = arith.mulf %d, %c : f32
      mdh.yield %f : f32
    }, (cc))
    inp_view(p = %p[i] : tensor<8xf32>, q = %q[i] : tensor<8xf32>,
             r = %r[i + 1] pad(0.0 : f32) : tensor<8xf32>)
  return %0 : tensor<8xf32>
}

// -----
// Origins that are not known to be equal.
// CHECK-LABEL: @places
// CHECK-COUNT-2: = mdh.compute
func.func @places(%x: tensor<8xf32>, %y: tensor<16xf32>, %m: index, %n: index) -> tensor<16xf32> {
  %q = mdh.compute (i = 8)
    out_view(e = %y[i] origin(%m) : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  // expected-remark @+1 {{input 'q' is not fused with its producer: its origins are not known to be equal}}
  %0 = mdh.compute (i = 8)
    out_view(y = %y[i] : tensor<16xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : tensor<8xf32>, q = %q[i] origin(%n) : tensor<16xf32>)
  return %0 : tensor<16xf32>
}

// -----
// Written by two accesses.
// CHECK-LABEL: @twice
// CHECK-COUNT-2: = mdh.compute
func.func @twice(%x: tensor<8xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %p = mdh.compute (i = 8)
    out_view(e = %y[i][i + 8] : tensor<16xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %a, %b : f32, f32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  // expected-remark @+1 {{input 'p' is not fused with its producer: its producer writes it by several accesses}}
  %0 = mdh.compute (i = 16)
    out_view(y = %y[i] : tensor<16xf32>)
    md_hom(id, (ps(addf)))
    inp_view(p = %p[i] : tensor<16xf32>)
  return %0 : tensor<16xf32>
}

// Refuses nothing: a producer that stays is right where it is.
