// Coupled accumulators: what becomes of them, and what stays.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>

// A sum beside a pair: one computation.
// CHECK-LABEL: func.func @beside
// CHECK:       mdh.compute
// CHECK:         combine parts associative
// CHECK-NOT:   commutative
// CHECK:           arith.addi
// CHECK-NOT:   mdh.compute
// CHECK:       return
func.func @beside(%x: tensor<7x13xi32>, %b: tensor<7xi32>, %p: tensor<7xindex>, %s: tensor<7xi32>)
    -> (tensor<7xi32>, tensor<7xindex>, tensor<7xi32>) {
  %r:3 = linalg.generic {indexing_maps = [#rows, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %p, %s : tensor<7xi32>, tensor<7xindex>, tensor<7xi32>) {
  ^bb0(%in: i32, %best: i32, %place: index, %sum: i32):
    %k = linalg.index 1 : index
    %is_less = arith.cmpi slt, %in, %best : i32
    %v = arith.select %is_less, %in, %best : i32
    %q = arith.select %is_less, %k, %place : index
    %t = arith.addi %sum, %in : i32
    linalg.yield %v, %q, %t : i32, index, i32
  } -> (tensor<7xi32>, tensor<7xindex>, tensor<7xi32>)
  return %r#0, %r#1, %r#2 : tensor<7xi32>, tensor<7xindex>, tensor<7xi32>
}

// -----

// Over two loops the place decides ties, where it grows with every iteration, and starts from no larger one.
// CHECK-LABEL: func.func @image
// CHECK:       mdh.compute (k = 7, r = 13)
// CHECK:         pw(select), pw(select)
// CHECK:         combine select commutative associative
func.func @image(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<index>) {
  %zero = arith.constant dense<0> : tensor<index>
  %width = arith.constant 13 : index
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %zero : tensor<i32>, tensor<index>) {
  ^bb0(%in: i32, %best: i32, %place: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %ij, %place : index
    linalg.yield %v, %q : i32, index
  } -> (tensor<i32>, tensor<index>)
  return %r#0, %r#1 : tensor<i32>, tensor<index>
}

// -----

// Two iterations have one place.
// CHECK-LABEL: func.func @overlapping
// CHECK:       linalg.generic
func.func @overlapping(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i8>) {
  %start = arith.constant dense<0> : tensor<i8>
  %width = arith.constant 12 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// The place goes down from the end of one column to the start of the next one.
// CHECK-LABEL: func.func @columns
// CHECK:       linalg.generic
func.func @columns(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i8>) {
  %start = arith.constant dense<0> : tensor<i8>
  %width = arith.constant 7 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %j, %width : index
    %ij = arith.addi %line, %i : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// The place does not fit its type, so that it may be less than the one before.
// CHECK-LABEL: func.func @wrapped
// CHECK:       linalg.generic
func.func @wrapped(%x: tensor<7x13xi32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i8>) {
  %start = arith.constant dense<0> : tensor<i8>
  %width = arith.constant 20 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// What it starts from may be a larger place, and stays where all are equal.
// CHECK-LABEL: func.func @from_anywhere
// CHECK:       linalg.generic
func.func @from_anywhere(%x: tensor<7x13xi32>, %b: tensor<i32>, %start: tensor<i8>) -> (tensor<i32>, tensor<i8>) {
  %width = arith.constant 13 : index
  // expected-remark@+1 {{operator that is not commutative}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%b, %start : tensor<i32>, tensor<i8>) {
  ^bb0(%in: i32, %best: i32, %place: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %line = arith.muli %i, %width : index
    %ij = arith.addi %line, %j : index
    %at = arith.index_cast %ij : index to i8
    %is_more = arith.cmpi sgt, %in, %best : i32
    %v = arith.select %is_more, %in, %best : i32
    %q = arith.select %is_more, %at, %place : i8
    linalg.yield %v, %q : i32, i8
  } -> (tensor<i32>, tensor<i8>)
  return %r#0, %r#1 : tensor<i32>, tensor<i8>
}

// -----

// A condition on the element: one that is never chosen stands where it does not hold.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @masked
// CHECK:       %[[LEAST:.*]] = arith.constant -128 : i8
// CHECK:       %[[E:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LEAST]] : i8
// CHECK:       mdh.yield %[[E]], %{{.*}} : i8, index
// CHECK:       combine select associative
func.func @masked(%x: tensor<7x13xi8>, %m: tensor<7x13xi1>, %b: tensor<7xi8>, %p: tensor<7xindex>) -> (tensor<7xi8>, tensor<7xindex>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<7x13xi8>, tensor<7x13xi1>) outs(%b, %p : tensor<7xi8>, tensor<7xindex>) {
  ^bb0(%in: i8, %is_in: i1, %best: i8, %place: index):
    %k = linalg.index 1 : index
    %is_more = arith.cmpi slt, %best, %in : i8
    %both = arith.andi %is_more, %is_in : i1
    %v = arith.select %both, %in, %best : i8
    %q = arith.select %both, %k, %place : index
    linalg.yield %v, %q : i8, index
  } -> (tensor<7xi8>, tensor<7xindex>)
  return %r#0, %r#1 : tensor<7xi8>, tensor<7xindex>
}

// -----

// Of equal ones the last: no number is less than all that may be there.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @masked_last
// CHECK:       linalg.generic
func.func @masked_last(%x: tensor<7x13xi8>, %m: tensor<7x13xi1>, %b: tensor<7xi8>, %p: tensor<7xindex>) -> (tensor<7xi8>, tensor<7xindex>) {
  // expected-remark@+1 {{they meet 3 values, and there are 2 accumulators}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<7x13xi8>, tensor<7x13xi1>) outs(%b, %p : tensor<7xi8>, tensor<7xindex>) {
  ^bb0(%in: i8, %is_in: i1, %best: i8, %place: index):
    %k = linalg.index 1 : index
    %is_more = arith.cmpi sle, %best, %in : i8
    %both = arith.andi %is_more, %is_in : i1
    %v = arith.select %both, %in, %best : i8
    %q = arith.select %both, %k, %place : index
    linalg.yield %v, %q : i8, index
  } -> (tensor<7xi8>, tensor<7xindex>)
  return %r#0, %r#1 : tensor<7xi8>, tensor<7xindex>
}

// -----

// The softmax of one pass: parts are combined, and what starts from nothing carries nothing.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @online
// CHECK:       %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:       mdh.yield %{{.*}}, %[[ONE]] : f32, f32
// CHECK:       combine rescaled commutative associative neutral(0xFF800000 : f32, 0.000000e+00 : f32)
// CHECK-NOT:   carry
// CHECK:       return
func.func @online(%x: tensor<7x13xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<7xf32>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %s : tensor<7xf32>, tensor<7xf32>) {
  ^bb0(%in: f32, %best: f32, %sum: f32):
    %new = arith.maxnumf %in, %best : f32
    %down = arith.subf %best, %new fastmath<nnan> : f32
    %factor = math.exp2 %down : f32
    %up = arith.subf %in, %new fastmath<nnan> : f32
    %p = math.exp2 %up : f32
    %scaled = arith.mulf %factor, %sum : f32
    %next = arith.addf %p, %scaled : f32
    linalg.yield %new, %next : f32, f32
  } -> (tensor<7xf32>, tensor<7xf32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xf32>
}

// -----

// A row that begins with -inf has no sum, unless parts of it are combined first.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @infinite
// CHECK:       linalg.generic
func.func @infinite(%x: tensor<7x13xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<7xf32>
  %m = linalg.fill ins(%least : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  // expected-remark@+1 {{rescales a sum of exponentials in a way that is not associative where two infinities are subtracted, as in a row that begins with -inf: where none are, put 'fastmath<nnan>' on each 'arith.subf', or 'mdh.associative' on the operation}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %s : tensor<7xf32>, tensor<7xf32>) {
  ^bb0(%in: f32, %best: f32, %sum: f32):
    %new = arith.maxnumf %in, %best : f32
    %down = arith.subf %best, %new : f32
    %factor = math.exp2 %down : f32
    %up = arith.subf %in, %new : f32
    %p = math.exp2 %up : f32
    %scaled = arith.mulf %factor, %sum : f32
    %next = arith.addf %p, %scaled : f32
    linalg.yield %new, %next : f32, f32
  } -> (tensor<7xf32>, tensor<7xf32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xf32>
}

// -----

// Rescaled by what was not the largest one: no sum of exponentials.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @not_online
// CHECK:       linalg.generic
func.func @not_online(%x: tensor<7x13xf32>, %m: tensor<7xf32>, %s: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  // expected-remark@+1 {{'linalg.generic' op stays as it is}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%m, %s : tensor<7xf32>, tensor<7xf32>) {
  ^bb0(%in: f32, %best: f32, %sum: f32):
    %new = arith.maximumf %in, %best : f32
    %down = arith.subf %new, %best : f32
    %factor = math.exp %down : f32
    %up = arith.subf %in, %new : f32
    %p = math.exp %up : f32
    %scaled = arith.mulf %factor, %sum : f32
    %next = arith.addf %p, %scaled : f32
    linalg.yield %new, %next : f32, f32
  } -> (tensor<7xf32>, tensor<7xf32>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xf32>
}

// -----

// The best two with their places, as a beam search keeps them: an element that is no number is never better.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @places
// CHECK:       mdh.compute
// CHECK:         arith.cmpf ord
// CHECK:         pw(best)
// CHECK:         combine best associative
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @places(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %ei = tensor.empty(%n) : tensor<?xindex>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.fill ins(%c0 : index) outs(%ei : tensor<?xindex>) -> tensor<?xindex>
  %r:4 = linalg.generic {indexing_maps = [#rows, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f, %p, %f, %p : tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>) {
  ^bb0(%in: f32, %m: f32, %i: index, %w: f32, %j: index):
    %k = linalg.index 1 : index
    %first = arith.cmpf ogt, %in, %m : f32
    %second = arith.cmpf ogt, %in, %w : f32
    %nm = arith.select %first, %in, %m : f32
    %ni = arith.select %first, %k, %i : index
    %low = arith.select %second, %in, %w : f32
    %lowi = arith.select %second, %k, %j : index
    %nw = arith.select %first, %m, %low : f32
    %nj = arith.select %first, %i, %lowi : index
    linalg.yield %nm, %ni, %nw, %nj : f32, index, f32, index
  } -> (tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xf32>, tensor<?xindex>, tensor<?xf32>, tensor<?xindex>
}

// -----

// Under a condition, in branches.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @masked_two
// CHECK-NOT:   scf.if
// CHECK:       mdh.compute
// CHECK:         combine best associative
func.func @masked_two(%x: tensor<16x133xi8>, %c: tensor<16x133xi1>, %pa: tensor<16xi32>, %pb: tensor<16xi32>) -> (tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>) {
  %a = arith.constant dense<3> : tensor<16xi8>
  %b = arith.constant dense<7> : tensor<16xi8>
  %r:4 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %c : tensor<16x133xi8>, tensor<16x133xi1>) outs(%b, %pb, %a, %pa : tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>) {
  ^bb0(%in: i8, %is: i1, %w: i8, %j: i32, %m: i8, %i: i32):
    %ki = linalg.index 1 : index
    %s:4 = scf.if %is -> (i8, i32, i8, i32) {
      %k = arith.index_cast %ki : index to i32
      %first = arith.cmpi slt, %in, %m : i8
      %t:4 = scf.if %first -> (i8, i32, i8, i32) {
        scf.yield %in, %k, %m, %i : i8, i32, i8, i32
      } else {
        %second = arith.cmpi slt, %in, %w : i8
        %low = arith.select %second, %in, %w : i8
        %lowi = arith.select %second, %k, %j : i32
        scf.yield %m, %i, %low, %lowi : i8, i32, i8, i32
      }
      scf.yield %t#0, %t#1, %t#2, %t#3 : i8, i32, i8, i32
    } else {
      scf.yield %m, %i, %w, %j : i8, i32, i8, i32
    }
    linalg.yield %s#2, %s#3, %s#0, %s#1 : i8, i32, i8, i32
  } -> (tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>)
  return %r#2, %r#3, %r#0, %r#1 : tensor<16xi8>, tensor<16xi32>, tensor<16xi8>, tensor<16xi32>
}

// -----

// The second best by a maximum: any order of what is there before will do.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @numbers
// CHECK:       combine best commutative associative
func.func @numbers(%x: tensor<16x133xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%a, %b : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %m: f32, %n: f32):
    %first = arith.cmpf oge, %m, %in fastmath<nnan> : f32
    %v = arith.select %first, %m, %in : f32
    %low = arith.select %first, %in, %m : f32
    %second = arith.cmpf ogt, %low, %n fastmath<nnan> : f32
    %w = arith.select %second, %low, %n : f32
    linalg.yield %v, %w : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// -----

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @plain
// CHECK:       linalg.generic
func.func @plain(%x: tensor<16x133xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // expected-remark@+1 {{its body takes the best two, of which what is there before may have the best one behind: expected both to start from a number, as 'linalg.fill' gives them, or 'mdh.associative' on the operation}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%a, %b : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %m: f32, %n: f32):
    %first = arith.cmpf ogt, %in, %m : f32
    %second = arith.cmpf ogt, %in, %n : f32
    %v = arith.select %first, %in, %m : f32
    %low = arith.select %second, %in, %n : f32
    %w = arith.select %first, %m, %low : f32
    linalg.yield %v, %w : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// -----

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @other
// CHECK:       linalg.generic
func.func @other(%x: tensor<16x133xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  // expected-remark@+1 {{its body takes the best two by comparing floats in a way that chooses what is no number: where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf', or 'mdh.associative' on the operation}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%a, %b : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %m: f32, %n: f32):
    %first = arith.cmpf oge, %m, %in : f32
    %second = arith.cmpf oge, %n, %in : f32
    %v = arith.select %first, %m, %in : f32
    %low = arith.select %second, %n, %in : f32
    %w = arith.select %first, %low, %m : f32
    linalg.yield %v, %w : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// -----

// The update by one element is no operator on parts.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @welford
// CHECK:       linalg.generic
func.func @welford(%x: tensor<16x133xf32>, %a: tensor<16xf32>, %b: tensor<16xf32>, %c: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  // expected-remark@+1 {{its body says what one element makes of its accumulators, and not how two partial results are combined: they meet 1 value, and there are 3 accumulators}}
  %r:3 = linalg.generic {indexing_maps = [#rows, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x133xf32>) outs(%a, %b, %c : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %n: f32, %m: f32, %q: f32):
    %one = arith.constant 1.0 : f32
    %nn = arith.addf %n, %one : f32
    %d = arith.subf %in, %m : f32
    %w = arith.divf %d, %nn : f32
    %nm = arith.addf %m, %w : f32
    %d2 = arith.subf %in, %nm : f32
    %p = arith.mulf %d, %d2 : f32
    %nq = arith.addf %q, %p : f32
    linalg.yield %nn, %nm, %nq : f32, f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
