// Triples that stand behind each other become one: views compose, the identity folds, and what
// computes nothing twice moves into its consumer, whatever form they are written in.
//
// RUN: mdh-opt %s --mdh-form --mdh-simplify --mdh-to-triple | FileCheck %s

// A reversed copy, read in a reversed order, is no copy at all.
// CHECK-LABEL: @views
// CHECK-SAME: (%[[x:.*]]: tensor<8xf32>,
// CHECK: mdh.inp_view (k = 8) (x = %[[x]][k] : tensor<8xf32>)
// CHECK-NOT: mdh.inp_view
// CHECK: mdh.hom(id, (ps(addf)))
// CHECK: mdh.out_view
// CHECK-NOT: mdh.out_view
func.func @views(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %none = tensor.empty() : tensor<8xf32>
  %0 = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %p = mdh.out_view (i) %0 -> (p = %none[7 - i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %1 = mdh.inp_view (k = 8) (p = %p[7 - k] : tensor<8xf32>) : !mdh.mda<8, f32>
  %2 = mdh.hom(id, (ps(addf))) %1 : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  %w = mdh.out_view (k) %2 -> (w = %y[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %w : tensor<8xf32>
}

// Two reversals are the identity.
// CHECK-LABEL: @identity
// CHECK-SAME: (%[[x:.*]]: tensor<8xf32>)
// CHECK-NEXT: return %[[x]]
func.func @identity(%x: tensor<8xf32>) -> tensor<8xf32> {
  %none = tensor.empty() : tensor<8xf32>
  %0 = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %p = mdh.out_view (i) %0 -> (p = %none[7 - i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %1 = mdh.inp_view (k = 8) (p = %p[7 - k] : tensor<8xf32>) : !mdh.mda<8, f32>
  %w = mdh.out_view (k) %1 -> (w = %none[k] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %w : tensor<8xf32>
}

// A map, stored one further, and a sum.
// CHECK-LABEL: @computed
// CHECK-SAME: (%[[x:.*]]: tensor<8xf32>,
// CHECK: mdh.inp_view (k = 1 to 9) (x = %[[x]][k - 1] : tensor<8xf32>) : !mdh.mda<8, f32>
// CHECK: mdh.hom((
// CHECK: math.sqrt
// CHECK: (pw(addf)))
// CHECK: mdh.out_view
// CHECK-NOT: mdh.out_view
func.func @computed(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  %none = tensor.empty() : tensor<9xf32>
  %0 = mdh.inp_view (i = 8) (x = %x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %1 = mdh.hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
  }, (cc)) %0 : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  %p = mdh.out_view (i) %1 -> (p = %none[i + 1] : tensor<9xf32>) : !mdh.mda<8, f32>
  %2 = mdh.inp_view (k = 1 to 9) (p = %p[k] : tensor<9xf32>) : !mdh.mda<8, f32>
  %3 = mdh.hom(id, (pw(addf))) %2 : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
  %w = mdh.out_view (k) %3 -> (w = %y[] : tensor<f32>) : !mdh.mda<1, f32>
  return %w : tensor<f32>
}
