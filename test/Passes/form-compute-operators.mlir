// Operators become regions of computations: what was there for the triples alone goes.
//
// RUN: mdh-opt %s --mdh-form-compute | FileCheck %s
// RUN: mdh-opt %s --mdh-form-compute --mdh-to-triple | FileCheck %s --check-prefix TRIPLE
// RUN: mdh-opt %s --mdh-form-compute -o %t.once
// RUN: mdh-opt %t.once --mdh-to-triple --mdh-form-compute --mdh-to-triple --mdh-form-compute -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mdh compile %s --emit compute | FileCheck %s

// CHECK-NOT: @unused
// CHECK-NOT: @first
// CHECK:     mdh.combine @known_elsewhere
// CHECK:     mdh.combine private @named_by_an_attribute
// CHECK-LABEL: @f
mdh.combine private @unused associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}
mdh.combine private @first associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}
mdh.combine @known_elsewhere associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}
mdh.combine private @named_by_an_attribute associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}

// One operator for both.
// TRIPLE: mdh.combine private @first associative
// TRIPLE-NOT: mdh.combine
// TRIPLE: pw(@first)
// TRIPLE: pw(@first)
func.func @f(%x: tensor<8xf32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>)
    attributes {of.others = [@named_by_an_attribute]} {
  %points = mdh.inp_view (k = 8) (%x[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  %one = mdh.hom(id, (pw(@first))) %points : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  %a = mdh.out_view (k) %one -> (a = %y[] : tensor<f32>) : !mdh.mda<1, f32>
  %two = mdh.hom((%e: f32) {
    %n = arith.negf %e : f32
    mdh.yield %n : f32
  }, (pw(@first))) %points : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  %b = mdh.out_view (k) %two -> (b = %y[] : tensor<f32>) : !mdh.mda<1, f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
