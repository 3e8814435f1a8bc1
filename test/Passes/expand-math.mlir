// RUN: mdh-opt %s --verify-diagnostics --mdh-expand-math | FileCheck %s
// RUN: mdh run %s --entry classes --random 1 --check | FileCheck %s --check-prefix EXEC

// CHECK-LABEL: func.func @classes
// CHECK:       %[[A:.*]] = math.absf
// CHECK:       %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK:       arith.cmpf oeq, %[[A]], %[[INF]]
// CHECK:       arith.cmpf oge
// CHECK:       arith.cmpf olt
// CHECK:       arith.andi
// CHECK-NOT:   math.is
// EXEC: check passed: 30 of 30
func.func @classes(%x: tensor<10xf32>, %n: tensor<10xi32>)
    -> (tensor<10xi1>, tensor<10xi1>, tensor<10xi32>) {
  %e0 = tensor.empty() : tensor<10xi1>
  %e1 = tensor.empty() : tensor<10xi1>
  %e2 = tensor.empty() : tensor<10xi32>
  %r:3 = mdh.compute (i = 10)
    out_view(a = %e0[i] : tensor<10xi1>, b = %e1[i] : tensor<10xi1>, c = %e2[i] : tensor<10xi32>)
    md_hom((%v: f32, %m: i32) {
      %zero = arith.constant 0.0 : f32
      %inverse = arith.divf %v, %zero : f32
      %a = math.isinf %inverse : f32
      %b = math.isnormal %v : f32
      %two = arith.constant 2 : i32
      %c = math.ipowi %m, %two : i32
      mdh.yield %a, %b, %c : i1, i1, i32
    }, (cc))
    inp_view(%x[i] : tensor<10xf32>, %n[i] : tensor<10xi32>)
  return %r#0, %r#1, %r#2 : tensor<10xi1>, tensor<10xi1>, tensor<10xi32>
}

// On vectors another pass has expanded it.
// CHECK-LABEL: @of_lanes
// CHECK:       math.expm1
func.func @of_lanes(%x: vector<4xf64>) -> vector<4xf64> {
  // expected-remark @+1 {{calls no function of the C library: found vectors, expected one number; run mdh-expand-vector-math before}}
  %y = math.expm1 %x : vector<4xf64>
  return %y : vector<4xf64>
}

// Refuses nothing: what it does not expand, upstream lowers.
