// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg=checks=true --verify-diagnostics | FileCheck %s --check-prefix CHECKS

// What a destination holds is carried in.
// CHECK-LABEL: func.func @accumulates
// CHECK:       mdh.compute (i = 4, j = 6, k = 5)
// CHECK-NEXT:    out_view(out = %{{.*}}[i, j] : tensor<4x6xf32>)
// CHECK-NEXT:    md_hom(mulf, (cc, cc, pw(addf)))
// CHECK:         carry k (out_before = %{{.*}}[i, j] : tensor<4x6xf32>)
func.func @accumulates(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>
}

// A neutral element is not.
// CHECK-LABEL: func.func @starts
// CHECK:       %[[EMPTY:.*]] = tensor.empty(
// CHECK:       out_view(out = %[[EMPTY]][i] : tensor<?xf32>)
// CHECK-NOT:   carry
// CHECK:       return
func.func @starts(%a: tensor<?x5xf32>, %d: index) -> tensor<?xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%d) : tensor<?xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<?x5xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %m : tensor<?xf32>
}

// Any other number is, as are all elements that are not written.
// CHECK-LABEL: func.func @diagonal
// CHECK:       %[[FILLED:.*]] = linalg.fill
// CHECK:       carry k (out_before = %[[FILLED]][i, i] : tensor<3x3xf32>)
func.func @diagonal(%x: tensor<3x5xf32>) -> tensor<3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x5xf32>) outs(%f : tensor<3x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// A sum of a single term has the sign of that, where one from +0.0 is +0.0: it starts from what is there.
// CHECK-LABEL: func.func @single_term
// CHECK:       out_view(out = %[[ZERO:.*]][i] : tensor<4xf32>)
// CHECK:       carry k (out_before = %[[ZERO]][i] : tensor<4xf32>)
func.func @single_term(%b: tensor<4x1xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %n = linalg.reduce { arith.addf } ins(%b : tensor<4x1xf32>) outs(%g : tensor<4xf32>) dimensions = [1]
  return %n : tensor<4xf32>
}

// A window has the size of what gives it, and no element of that.
// CHECK-LABEL: func.func @pooled
// CHECK:       md_hom(id, (cc, cc, cc, cc, pw(maximumf), pw(maximumf)))
// CHECK-NEXT:    inp_view(in = %{{.*}}[i, j * 2 + k, l + r, m] : memref<1x9x9x4xf32>)
func.func @pooled(%x: memref<1x9x9x4xf32>, %w: memref<3x3xf32>, %y: memref<1x4x7x4xf32>) {
  linalg.pooling_nhwc_max {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
    ins(%x, %w : memref<1x9x9x4xf32>, memref<3x3xf32>) outs(%y : memref<1x4x7x4xf32>)
  return
}

// Differences are sums of what is negative.
// CHECK-LABEL: func.func @differences
// CHECK:       arith.negf
// CHECK:       pw(addf)
func.func @differences(%x: tensor<7xf32>, %y: tensor<f32>) -> tensor<f32> {
  %z = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<7xf32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.subf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %z : tensor<f32>
}

// An element that is no number leaves a chosen maximum as it is.
// CHECK-LABEL: func.func @chosen
// CHECK:       %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK:       %[[NUMBER:.*]] = arith.cmpf ord, %[[E:.*]], %[[E]] : f32
// CHECK-NEXT:  arith.select %[[NUMBER]], %[[E]], %[[LOW]] : f32
// CHECK:       pw(maximumf)
func.func @chosen(%x: tensor<7xf32>, %y: tensor<f32>) -> tensor<f32> {
  %z = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<7xf32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %a, %o : f32
    %s = arith.select %c, %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %z : tensor<f32>
}

// The first of the best, with its place.
// CHECK-LABEL: func.func @best
// CHECK:       combine select associative
func.func @best(%x: tensor<3x7xi32>, %m: tensor<3xi32>, %p: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %z:2 = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x7xi32>) outs(%m, %p : tensor<3xi32>, tensor<3xi32>) {
  ^bb0(%a: i32, %o: i32, %q: i32):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i32
    %c = arith.cmpi sgt, %a, %o : i32
    %s = arith.select %c, %a, %o : i32
    %t = arith.select %c, %here, %q : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<3xi32>, tensor<3xi32>)
  return %z#0, %z#1 : tensor<3xi32>, tensor<3xi32>
}

// The same where the best is written as a maximum, in axes of one index, of what the program says are numbers.
// CHECK-LABEL: func.func @best_of_maximum
// CHECK:       combine select associative
func.func @best_of_maximum(%x: tensor<3x7xf32>, %m: tensor<3x1xf32>, %p: tensor<3x1xi64>) -> (tensor<3x1xf32>, tensor<3x1xi64>) {
  %z:2 = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, 0)>, affine_map<(i, k) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x7xf32>) outs(%m, %p : tensor<3x1xf32>, tensor<3x1xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i64
    %s = arith.maximumf %a, %o : f32
    %c = arith.cmpf ogt, %a, %o fastmath<nnan> : f32
    %t = arith.select %c, %here, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<3x1xf32>, tensor<3x1xi64>)
  return %z#0, %z#1 : tensor<3x1xf32>, tensor<3x1xi64>
}

// A result that nobody uses goes, and with it what only it needs: then this is a maximum of what is filled with its
// neutral element.
// CHECK-LABEL: func.func @place_unused
// CHECK:       mdh.compute (i = 3, k = 7)
// CHECK-NEXT:    out_view(out = %{{.*}}[i, 0] : tensor<3x1xf32>)
// CHECK-NEXT:    md_hom(id, (cc, pw(maximumf)))
// CHECK-NOT:     carry
// CHECK:       return
func.func @place_unused(%x: tensor<3x7xf32>, %p: tensor<3x1xi64>) -> tensor<3x1xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3x1xf32>
  %m = linalg.fill ins(%low : f32) outs(%e : tensor<3x1xf32>) -> tensor<3x1xf32>
  %z:2 = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, 0)>, affine_map<(i, k) -> (i, 0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x7xf32>) outs(%m, %p : tensor<3x1xf32>, tensor<3x1xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i64
    %s = arith.maximumf %a, %o : f32
    %c = arith.cmpf ogt, %a, %o : f32
    %t = arith.select %c, %here, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<3x1xf32>, tensor<3x1xi64>)
  return %z#0 : tensor<3x1xf32>
}

// A computation has a dimension, if only of one point.
// CHECK-LABEL: func.func @single
// CHECK:       mdh.compute (i = 1)
// CHECK-NEXT:    out_view(out = %{{.*}}[] : tensor<f32>)
func.func @single(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z = linalg.exp ins(%x : tensor<f32>) outs(%y : tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}

// Parts of one memref that are apart.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:   linalg.copy
// CHECK:       return
func.func @apart(%x: memref<8x8xf32>) {
  %a = memref.subview %x[0, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1]>>
  %b = memref.subview %x[4, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 32>>
  linalg.copy ins(%a : memref<4x8xf32, strided<[8, 1]>>) outs(%b : memref<4x8xf32, strided<[8, 1], offset: 32>>)
  return
}

// -----

// With checks, extents that are not seen to fit are asserted to: here those of %y, not those of %e.
// CHECKS-LABEL: func.func @rows
// CHECKS:       %[[OTHER:.*]] = tensor.dim %arg1, %{{.*}} : tensor<?xf32>
// CHECKS:       %[[FITS:.*]] = arith.cmpi eq, %{{.*}}, %[[OTHER]] : index
// CHECKS:       cf.assert %[[FITS]], "'linalg.generic' op has operands of extents that do not fit: loop 0 runs over axis 0 of operand 0 and axis 0 of operand 1: expected the same number of indices"
// CHECKS-NOT:   cf.assert
// CHECKS:       return
func.func @rows(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

// What stays, with its reason.

func.func @overlap(%x: memref<40xi32>) {
  %a = memref.subview %x[0][32][1] : memref<40xi32> to memref<32xi32, strided<[1]>>
  %b = memref.subview %x[1][32][1] : memref<40xi32> to memref<32xi32, strided<[1], offset: 1>>
  // expected-remark@+1 {{'linalg.copy' op stays as it is: a destination may share memory with operand 0}}
  linalg.copy ins(%a : memref<32xi32, strided<[1]>>) outs(%b : memref<32xi32, strided<[1], offset: 1>>)
  return
}

func.func @into_its_input(%x: memref<6x6xi32>, %w: memref<6x6xi32>) {
  // expected-remark@+1 {{'linalg.matmul' op stays as it is: as a computation, it writes output 'out' where it reads input 'in'}}
  linalg.matmul ins(%x, %w : memref<6x6xi32>, memref<6x6xi32>) outs(%x : memref<6x6xi32>)
  return
}

func.func @stores(%x: tensor<8xi32>, %m: memref<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body has 'memref.store'}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 0 : index
    memref.store %a, %m[%i] : memref<8xi32>
    linalg.yield %a : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}

func.func private @print(i32) -> i32
func.func @calls(%x: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body calls @print, which has no body here}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = func.call @print(%a) : (i32) -> i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}

func.func @complex(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body has 'complex.create'}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = complex.create %a, %a : complex<f32>
    %s = complex.abs %c : complex<f32>
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @horner(%x: tensor<8xi32>, %y: tensor<i32>) -> tensor<i32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates by an operator that is not associative, for x = (}}
  %z = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xi32>) outs(%y : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %m = arith.muli %o, %a : i32
    %s = arith.addi %m, %a : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %z : tensor<i32>
}

// One that is no number would be chosen, and lose what was found before.
func.func @forgets(%x: tensor<8xf32>, %y: tensor<f32>) -> tensor<f32> {
  // expected-remark@+1 {{not associative where one is no number}}
  %z = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %o, %a : f32
    %s = arith.select %c, %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %z : tensor<f32>
}

func.func @so_far(%x: tensor<3x7xi32>, %m: tensor<3xi32>, %p: tensor<3x7xi32>) -> (tensor<3xi32>, tensor<3x7xi32>) {
  // expected-remark@+1 {{its body uses for another destination what destination 0 holds so far}}
  %z:2 = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i, k)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x7xi32>) outs(%m, %p : tensor<3xi32>, tensor<3x7xi32>) attrs = {mdh.associative} {
  ^bb0(%a: i32, %o: i32, %q: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s, %o : i32, i32
  } -> (tensor<3xi32>, tensor<3x7xi32>)
  return %z#0, %z#1 : tensor<3xi32>, tensor<3x7xi32>
}

// The best is a maximum, and what is chosen beside it the place of the least.
func.func @place_of_other(%x: tensor<3x7xf32>, %m: tensor<3xf32>, %p: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xi64>) {
  // expected-remark@+1 {{chooses by an operator that is not associative, for x = (0.0, 0), y = (0.0, 0), z = (-1.0, 1), f(f(x, y), z) = (0.0, 1), but f(x, f(y, z)) = (0.0, 0): expected one whose parts can be combined}}
  %z:2 = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x7xf32>) outs(%m, %p : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i64
    %s = arith.maximumf %a, %o : f32
    %c = arith.cmpf olt, %a, %o : f32
    %t = arith.select %c, %here, %q : i64
    linalg.yield %s, %t : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  return %z#0, %z#1 : tensor<3xf32>, tensor<3xi64>
}

func.func @last(%x: tensor<3x7xi32>, %m: tensor<3xi32>) -> tensor<3xi32> {
  // expected-remark@+1 {{its body does not use what destination 0 holds, so that the last iteration of a reduction would win}}
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x7xi32>) outs(%m : tensor<3xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<3xi32>
  return %z : tensor<3xi32>
}

func.func @scattered(%x: tensor<?xi32>, %w: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  // expected-remark@+1 {{loop 0 has no axis of its destination to itself, so that iterations might write the same element}}
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i + k)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<?xi32>, tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %z : tensor<?xi32>
}

func.func @large(%x: tensor<2048x2048xi32>, %m: tensor<2048xi32>) -> tensor<2048xi32> {
  // expected-remark@+1 {{; its 4194304 iterations run as plain loops, on one core}}
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2048x2048xi32>) outs(%m : tensor<2048xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<2048xi32>
  return %z : tensor<2048xi32>
}

// -----

// A law is a mark of an operation that accumulates, and has no value.
func.func @misplaced(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error@+1 {{mdh.associative}}
  %d = linalg.matmul {mdh.associative} ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>
}
