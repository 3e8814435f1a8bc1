// Accumulation under a condition or in a wider type: the condition is on the element instead.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

// What is left out is the neutral element: NaN for maxnumf, which passes over it.
// CHECK-LABEL: func.func @masked
// CHECK:       %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:       arith.select %{{.*}}, %{{.*}}, %[[NAN]] : f32
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @masked(%a: tensor<7x13xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.constant 0.0 : f32
    %m = arith.cmpf ogt, %x, %c : f32
    %s = arith.maxnumf %y, %x : f32
    %z = arith.select %m, %s, %y : f32
    linalg.yield %z : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @branched
// CHECK:       (cc, pw(addi)))
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @branched(%a: tensor<7x13xi32>, %o: tensor<7xi32>) -> tensor<7xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi32>) outs(%o : tensor<7xi32>) {
  ^bb0(%x: i32, %y: i32):
    %c = arith.constant 0 : i32
    %m = arith.cmpi sgt, %x, %c : i32
    %z = scf.if %m -> i32 {
      %t = arith.divsi %c, %x : i32
      %s = arith.subi %y, %t : i32
      scf.yield %s : i32
    } else {
      scf.yield %y : i32
    }
    linalg.yield %z : i32
  } -> tensor<7xi32>
  return %r : tensor<7xi32>
}

// -----

// CHECK-LABEL: func.func @any
// CHECK:       (cc, pw(ori))
// CHECK:       return
func.func @any(%a: tensor<7x13xi1>, %o: tensor<7xi1>) -> tensor<7xi1> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi1>) outs(%o : tensor<7xi1>) {
  ^bb0(%x: i1, %y: i1):
    %t = arith.constant true
    %z = arith.select %x, %t, %y : i1
    linalg.yield %z : i1
  } -> tensor<7xi1>
  return %r : tensor<7xi1>
}

// -----

// CHECK-LABEL: func.func @all
// CHECK:       (cc, pw(andi))
// CHECK:       return
func.func @all(%a: tensor<7x13xi1>, %o: tensor<7xi1>) -> tensor<7xi1> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi1>) outs(%o : tensor<7xi1>) {
  ^bb0(%x: i1, %y: i1):
    %f = arith.constant false
    %z = arith.select %y, %x, %f : i1
    linalg.yield %z : i1
  } -> tensor<7xi1>
  return %r : tensor<7xi1>
}

// -----

// CHECK-LABEL: func.func @truncated
// CHECK-NOT:   arith.extsi
// CHECK:       arith.trunci
// CHECK:       (cc, pw(addi)))
// CHECK:       return
func.func @truncated(%a: tensor<7x13xi32>, %o: tensor<7xi8>) -> tensor<7xi8> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi32>) outs(%o : tensor<7xi8>) {
  ^bb0(%x: i32, %y: i8):
    %w = arith.extsi %y : i8 to i32
    %s = arith.addi %w, %x : i32
    %z = arith.trunci %s : i32 to i8
    linalg.yield %z : i8
  } -> tensor<7xi8>
  return %r : tensor<7xi8>
}

// -----

// A condition on what is accumulated is on no element.
// CHECK-LABEL: func.func @dependent
// CHECK:       linalg.generic
func.func @dependent(%a: tensor<7x13xi32>, %o: tensor<7xi32>) -> tensor<7xi32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi32>) outs(%o : tensor<7xi32>) {
  ^bb0(%x: i32, %y: i32):
    %c = arith.constant 0 : i32
    %m = arith.cmpi sgt, %y, %c : i32
    %s = arith.addi %y, %x : i32
    %z = arith.select %m, %s, %y : i32
    linalg.yield %z : i32
  } -> tensor<7xi32>
  return %r : tensor<7xi32>
}

// -----

// The opposite of what is accumulated alternates.
// CHECK-LABEL: func.func @opposite
// CHECK:       linalg.generic
func.func @opposite(%a: tensor<7x13xi1>, %o: tensor<7xi1>) -> tensor<7xi1> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi1>) outs(%o : tensor<7xi1>) {
  ^bb0(%x: i1, %y: i1):
    %f = arith.constant false
    %z = arith.select %y, %f, %x : i1
    linalg.yield %z : i1
  } -> tensor<7xi1>
  return %r : tensor<7xi1>
}

// -----

// High bits matter to a maximum.
// CHECK-LABEL: func.func @wide
// CHECK:       linalg.generic
func.func @wide(%a: tensor<7x13xi32>, %o: tensor<7xi8>) -> tensor<7xi8> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xi32>) outs(%o : tensor<7xi8>) {
  ^bb0(%x: i32, %y: i8):
    %w = arith.extsi %y : i8 to i32
    %s = arith.maxsi %w, %x : i32
    %z = arith.trunci %s : i32 to i8
    linalg.yield %z : i8
  } -> tensor<7xi8>
  return %r : tensor<7xi8>
}

// -----

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Floats are summed with -0.0 in the place of what is left out, which changes no number.
// CHECK-LABEL: func.func @triangle
// CHECK:       arith.cmpi sle
// CHECK:       %[[NOTHING:.*]] = arith.constant -0.000000e+00 : f32
// CHECK:       arith.select %{{.*}}, %{{.*}}, %[[NOTHING]] : f32
// CHECK:       (cc, pw(addf)))
func.func @triangle(%a: tensor<7x13xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.cmpi sle, %j, %i : index
    %s = arith.addf %y, %x : f32
    %z = arith.select %m, %s, %y : f32
    linalg.yield %z : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// What is computed under the condition stays there; what is multiplied is 1.
// CHECK-LABEL: func.func @roots
// CHECK:       %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:       scf.if
// CHECK-NEXT:    %[[ROOT:.*]] = math.sqrt
// CHECK-NEXT:    scf.yield %[[ROOT]] : f32
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %[[ONE]] : f32
// CHECK:       (cc, pw(mulf)))
func.func @roots(%a: tensor<7x13xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.constant 0.0 : f32
    %m = arith.cmpf ogt, %x, %c : f32
    %z = scf.if %m -> f32 {
      %t = math.sqrt %x : f32
      %s = arith.mulf %y, %t : f32
      scf.yield %s : f32
    } else {
      scf.yield %y : f32
    }
    linalg.yield %z : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// Both branches take a sum further, each in its way.
// CHECK-LABEL: func.func @either
// CHECK:       scf.if
// CHECK-NEXT:    arith.negf
// CHECK:       } else {
// CHECK-NEXT:    arith.mulf
// CHECK:       (cc, pw(addf)))
func.func @either(%a: tensor<7x13xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.constant 0.0 : f32
    %m = arith.cmpf ogt, %x, %c : f32
    %z = scf.if %m -> f32 {
      %s = arith.subf %y, %x : f32
      scf.yield %s : f32
    } else {
      %s = math.fma %x, %x, %y : f32
      scf.yield %s : f32
    }
    linalg.yield %z : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// A condition on what is accumulated so far, as a branch.
// CHECK-LABEL: func.func @branch_of_itself
// CHECK:       linalg.generic
func.func @branch_of_itself(%a: tensor<7x13xf32>, %o: tensor<7xf32>) -> tensor<7xf32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf olt, %x, %y : f32
    %z = scf.if %c -> f32 {
      %s = arith.addf %y, %x : f32
      scf.yield %s : f32
    } else {
      scf.yield %y : f32
    }
    linalg.yield %z : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// A product that is summed in a wider type and rounded with the sum alone might leave the narrow type.
// CHECK-LABEL: func.func @rounded
// CHECK:       linalg.generic
// CHECK:       return
func.func @rounded(%a: tensor<7x13xbf16>, %b: tensor<13xbf16>, %o: tensor<7xbf16>) -> tensor<7xbf16> {
  // expected-remark@+1 {{its body accumulates in another type than it keeps: 'arith.extf' takes what is accumulated from bf16 to f32}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<7x13xbf16>, tensor<13xbf16>) outs(%o : tensor<7xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %acc: bf16):
    %wx = arith.extf %x : bf16 to f32
    %wy = arith.extf %y : bf16 to f32
    %p = arith.mulf %wx, %wy : f32
    %w = arith.extf %acc : bf16 to f32
    %s = arith.addf %w, %p : f32
    %z = arith.truncf %s : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<7xbf16>
  return %r : tensor<7xbf16>
}

// -----

// Floats that are summed in a wider type and rounded each time are summed in their own.
// CHECK-LABEL: func.func @rounded_sum
// CHECK:       md_hom(id, (cc, pw(addf)))
// CHECK:       return
func.func @rounded_sum(%a: tensor<7x13xf16>, %o: tensor<7xf16>) -> tensor<7xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf16>) outs(%o : tensor<7xf16>) {
  ^bb0(%x: f16, %acc: f16):
    %wx = arith.extf %x : f16 to f32
    %w = arith.extf %acc : f16 to f32
    %s = arith.addf %wx, %w : f32
    %z = arith.truncf %s : f32 to f16
    linalg.yield %z : f16
  } -> tensor<7xf16>
  return %r : tensor<7xf16>
}

// -----

// An element of the wider type is rounded by itself; of a condition too.
// CHECK-LABEL: func.func @rounded_elements
// CHECK:       md_hom((%[[X:.*]]: f32) {
// CHECK:         %[[E:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}} : f32
// CHECK:         arith.truncf %[[E]] : f32 to bf16
// CHECK:       }, (cc, pw(maximumf)))
// CHECK:       return
func.func @rounded_elements(%a: tensor<7x13xf32>, %o: tensor<7xbf16>) -> tensor<7xbf16> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xbf16>) {
  ^bb0(%x: f32, %acc: bf16):
    %w = arith.extf %acc : bf16 to f32
    %m = arith.cmpf ogt, %x, %zero : f32
    %s = arith.maximumf %w, %x : f32
    %t = arith.select %m, %s, %w : f32
    %z = arith.truncf %t : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<7xbf16>
  return %r : tensor<7xbf16>
}

// -----

// Two operations in the wider type are no operator of the narrow one.
// CHECK-LABEL: func.func @rounded_later
// CHECK:       linalg.generic
func.func @rounded_later(%a: tensor<7x13xf32>, %o: tensor<7xbf16>) -> tensor<7xbf16> {
  // expected-remark@+1 {{its body accumulates in another type than it keeps}}
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x13xf32>) outs(%o : tensor<7xbf16>) {
  ^bb0(%x: f32, %acc: bf16):
    %w = arith.extf %acc : bf16 to f32
    %s = arith.mulf %w, %x : f32
    %t = arith.addf %s, %x : f32
    %z = arith.truncf %t : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<7xbf16>
  return %r : tensor<7xbf16>
}
