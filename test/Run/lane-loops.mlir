// Loops in scalar functions on vectors: lanes that are done wait, those without a point or outside
// of the branch never begin. 45 points leave lanes over. Below 0, `halvings` would not end.
//
// RUN: mdh run %s --entry halvings --random 1 --check | FileCheck %s
// RUN: mdh run %s --entry powers --random 2 --check | FileCheck %s
// RUN: mdh run %s --entry triangle --random 3 --check | FileCheck %s
// RUN: mdh run %s --entry remainders --random 4 --check | FileCheck %s
// RUN: mdh compile %s --emit vector | FileCheck %s --check-prefix VECTOR
// RUN: mdh-opt %s --mdh-form --mdh-bufferize --mdh-default-schedules --mdh-tiles --mdh-vectorize \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix REMARK --allow-empty

// CHECK: check passed: 45 of 45 elements compared
// REMARK-NOT: stays scalar

// How often a number that is not 0 can be halved; 0 for those below 1.
//
// VECTOR-LABEL: func.func @halvings
// VECTOR:         scf.while ({{.*}}) : (vector<{{[0-9]+}}xi32>, vector<{{[0-9]+}}xi32>) -> ({{.*}}vector<{{[0-9]+}}xi1>{{.*}})
// VECTOR:           %[[GOES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<{{[0-9]+}}xi1>, vector<{{[0-9]+}}xi1>
// VECTOR:           %[[ANY:.*]] = vector.reduction <or>, %[[GOES]]
// VECTOR:           scf.condition(%[[ANY]])
// VECTOR:         ^bb0
// VECTOR:           arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<{{[0-9]+}}xi1>, vector<{{[0-9]+}}xi32>
func.func @halvings(%x: tensor<45xi32>) -> tensor<45xi32> {
  %init = tensor.empty() : tensor<45xi32>
  %points = mdh.inp_view (i = 45) (%x[i] : tensor<45xi32>) : !mdh.mda<45, i32>
  %all = mdh.hom((%a: i32) {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %positive = arith.cmpi sgt, %a, %zero : i32
      %n = scf.if %positive -> (i32) {
        %rest, %count = scf.while (%r = %a, %k = %zero) : (i32, i32) -> (i32, i32) {
          %bit = arith.remsi %r, %two : i32
          %even = arith.cmpi eq, %bit, %zero : i32
          scf.condition(%even) %r, %k : i32, i32
        } do {
        ^bb0(%r: i32, %k: i32):
          %half = arith.divsi %r, %two : i32
          %next = arith.addi %k, %one : i32
          scf.yield %half, %next : i32, i32
        }
        scf.yield %count : i32
      } else {
        scf.yield %zero : i32
      }
      mdh.yield %n : i32
  }, (cc)) %points : !mdh.mda<45, i32> -> !mdh.mda<45, i32>
  %y = mdh.out_view (i) %all -> (y = %init[i] : tensor<45xi32>) : !mdh.mda<45, i32>
  return %y : tensor<45xi32>
}

// As many turns for all lanes: one loop.
//
// VECTOR-LABEL: func.func @powers
// VECTOR:         scf.for {{.*}} -> (vector<{{[0-9]+}}xf32>)
// VECTOR:           arith.mulf {{.*}} : vector<{{[0-9]+}}xf32>
func.func @powers(%x: tensor<45xf32>) -> tensor<45xf32> {
  %init = tensor.empty() : tensor<45xf32>
  %points = mdh.inp_view (i = 45) (%x[i] : tensor<45xf32>) : !mdh.mda<45, f32>
  %all = mdh.hom((%a: f32) {
      %one = arith.constant 1.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %p = scf.for %k = %c0 to %c5 step %c1 iter_args(%q = %one) -> (f32) {
        %next = arith.mulf %q, %a : f32
        scf.yield %next : f32
      }
      mdh.yield %p : f32
  }, (cc)) %points : !mdh.mda<45, f32> -> !mdh.mda<45, f32>
  %y = mdh.out_view (i) %all -> (y = %init[i] : tensor<45xf32>) : !mdh.mda<45, f32>
  return %y : tensor<45xf32>
}

// As many turns as the point's number says, up to the largest index of its type.
//
// VECTOR-LABEL: func.func @triangle
// VECTOR:         scf.while
// VECTOR:           vector.reduction <or>
func.func @triangle(%x: tensor<45xi64>) -> tensor<45xi64> {
  %init = tensor.empty() : tensor<45xi64>
  %points = mdh.inp_view (i = 45) (%x[i] : tensor<45xi64>) : !mdh.mda<45, i64>
  %all = mdh.hom((%a: i64) {
      %most = arith.constant 9223372036854775807 : i64
      %two = arith.constant 2 : i64
      %index = mdh.index 0 : index
      %i = arith.index_cast %index : index to i64
      %least = arith.subi %most, %i : i64
      %sum = scf.for %k = %least to %most step %two iter_args(%s = %a) -> (i64) : i64 {
        %next = arith.addi %s, %k : i64
        scf.yield %next : i64
      }
      mdh.yield %sum : i64
  }, (cc)) %points : !mdh.mda<45, i64> -> !mdh.mda<45, i64>
  %y = mdh.out_view (i) %all -> (y = %init[i] : tensor<45xi64>) : !mdh.mda<45, i64>
  return %y : tensor<45xi64>
}

// Divisions by constants have results for all lanes.
//
// VECTOR-LABEL: func.func @remainders
// VECTOR:         arith.remsi {{.*}} : vector<{{[0-9]+}}xi32>
// VECTOR:         arith.floordivsi {{.*}} : vector<{{[0-9]+}}xi32>
// VECTOR:         arith.divui {{.*}} : vector<{{[0-9]+}}xi32>
func.func @remainders(%x: tensor<45xi32>) -> tensor<45xi32> {
  %init = tensor.empty() : tensor<45xi32>
  %points = mdh.inp_view (i = 45) (%x[i] : tensor<45xi32>) : !mdh.mda<45, i32>
  %all = mdh.hom((%a: i32) {
      %ten = arith.constant 10 : i32
      %less = arith.constant -3 : i32
      %r = arith.remsi %a, %ten : i32
      %f = arith.floordivsi %a, %less : i32
      %u = arith.divui %a, %less : i32
      %rf = arith.addi %r, %f : i32
      %sum = arith.addi %rf, %u : i32
      mdh.yield %sum : i32
  }, (cc)) %points : !mdh.mda<45, i32> -> !mdh.mda<45, i32>
  %y = mdh.out_view (i) %all -> (y = %init[i] : tensor<45xi32>) : !mdh.mda<45, i32>
  return %y : tensor<45xi32>
}
