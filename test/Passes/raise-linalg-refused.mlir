// What cannot be raised, or not as it stands: left alone with the rule that it does not follow.
//
// RUN: mdh-opt %s --allow-unregistered-dialect --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

// Code of a dialect that nobody here knows.
// CHECK-LABEL: func.func @unknown
// CHECK:       linalg.generic
func.func @unknown(%x: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body has 'other.twice': expected numbers that are computed}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = "other.twice"(%a) : (i32) -> i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}

// -----

// Padding that is no number.
// CHECK-LABEL: func.func @padded
// CHECK:       tensor.pad
func.func @padded(%x: tensor<8xf32>, %n: index) -> tensor<10xf32> {
  // expected-remark@+1 {{'tensor.pad' op stays as it is: its body has 'other.number': expected numbers that are computed}}
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %h = "other.number"(%i) : (index) -> f32
    tensor.yield %h : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %p : tensor<10xf32>
}

// -----

// In a loop or a branch these are parts of tiles that somebody has made. Padding that only computations read is
// seen through.
// CHECK-LABEL: func.func @in_loop
// CHECK:       tensor.pad
// CHECK:       tensor.generate
// CHECK:       tensor.concat
func.func @in_loop(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>, %v: f32, %b: i1) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %y) -> tensor<4x8xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    // expected-remark@+1 {{'tensor.pad' op stays as it is: it is inside of 'scf.for': expected it in the function's own block}}
    %p = tensor.pad %row low[1] high[3] {
    ^bb0(%k: index):
      tensor.yield %v : f32
    } : tensor<4xf32> to tensor<8xf32>
    %seen = tensor.pad %row low[2] high[2] {
    ^bb0(%k: index):
      tensor.yield %zero : f32
    } : tensor<4xf32> to tensor<8xf32>
    %s = linalg.add ins(%p, %seen : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %j = scf.if %b -> tensor<8xf32> {
      // expected-remark@+1 {{'tensor.generate' op stays as it is: it is inside of 'scf.if'}}
      %g = tensor.generate {
      ^bb0(%k: index):
        tensor.yield %v : f32
      } : tensor<4xf32>
      // expected-remark@+1 {{'tensor.concat' op stays as it is: it is inside of 'scf.if'}}
      %c = tensor.concat dim(0) %row, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
      scf.yield %c : tensor<8xf32>
    } else {
      scf.yield %s : tensor<8xf32>
    }
    %n = tensor.insert_slice %j into %t[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    scf.yield %n : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// -----

// An index that is data is no index function.
// CHECK-LABEL: func.func @gathered
// CHECK:       linalg.generic
func.func @gathered(%x: tensor<8xindex>, %t: tensor<100xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body has 'tensor.extract'}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xindex>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: index, %o: f32):
    %s = tensor.extract %t[%a] : tensor<100xf32>
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Of what has no rank a part with one is raised: its sizes are those that it has when it runs.
// CHECK-LABEL: func.func @unranked
// CHECK:       %[[X:.*]] = tensor.cast %{{.*}} : tensor<*xf32> to tensor<?xf32>
// CHECK:       mdh.compute (i = %
// CHECK:       inp_view(in = %[[X]][i] : tensor<?xf32>)
func.func @unranked(%x: tensor<*xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = tensor.cast %x : tensor<*xf32> to tensor<?xf32>
  %z = linalg.exp ins(%r : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// The same memory in another shape, and memory that comes from anywhere.
// CHECK-LABEL: func.func @shared
// CHECK:       linalg.transpose
// CHECK:       linalg.copy
func.func @shared(%x: memref<4x4xi32>, %all: memref<16xi32>, %c: i1) {
  %y = memref.expand_shape %all [[0, 1]] output_shape [4, 4] : memref<16xi32> into memref<4x4xi32>
  %z = memref.reinterpret_cast %all to offset: [0], sizes: [4, 4], strides: [4, 1]
    : memref<16xi32> to memref<4x4xi32, strided<[4, 1]>>
  // expected-remark@+1 {{'linalg.transpose' op stays as it is: a destination may share memory with operand 0}}
  linalg.transpose ins(%y : memref<4x4xi32>) outs(%z : memref<4x4xi32, strided<[4, 1]>>) permutation = [1, 0]
  %any = arith.select %c, %x, %y : memref<4x4xi32>
  // expected-remark@+1 {{'linalg.copy' op stays as it is: a destination may share memory with operand 0}}
  linalg.copy ins(%any : memref<4x4xi32>) outs(%x : memref<4x4xi32>)
  return
}

// -----

// Each element is taken by two iterations.
// CHECK-LABEL: func.func @folded
// CHECK:       linalg.generic
func.func @folded(%x: tensor<8xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: as a computation, it}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi32>) outs(%y : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<4xi32>
  return %z : tensor<4xi32>
}

// -----

// Sums in a wider type that each step cuts back: the cast is named.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @rounded
// CHECK:       linalg.generic
func.func @rounded(%x: tensor<7x13xf32>, %y: tensor<7xbf16>) -> tensor<7xbf16> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates in another type than it keeps: 'arith.extf' takes what is accumulated from bf16 to f32, and each step rounds or cuts it to bf16 again; expected a destination of f32, which is cast when it is complete, or an element that is cast to bf16 before it is combined}}
  %z = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%y : tensor<7xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %w = arith.extf %o : bf16 to f32
    %s = arith.addf %w, %a : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<7xbf16>
  return %z : tensor<7xbf16>
}

// -----

// The same of integers; a sum would be one of the narrow type.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @cut
// CHECK:       linalg.generic
func.func @cut(%x: tensor<7x13xi32>, %y: tensor<7xi8>) -> tensor<7xi8> {
  // expected-remark@+1 {{'arith.extsi' takes what is accumulated from i8 to i32, and each step rounds or cuts it to i8 again}}
  %z = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%y : tensor<7xi8>) {
  ^bb0(%a: i32, %o: i8):
    %w = arith.extsi %o : i8 to i32
    %s = arith.maxsi %w, %a : i32
    %t = arith.trunci %s : i32 to i8
    linalg.yield %t : i8
  } -> tensor<7xi8>
  return %z : tensor<7xi8>
}

// -----

// Two accumulators meet one value, whose place is none of the inputs.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @unpaired
// CHECK:       linalg.generic
func.func @unpaired(%x: tensor<7x13xi32>, %y: tensor<7xi32>, %z: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body says what one element makes of its accumulators, and not how two partial results are combined: they meet 1 value, and there are 2 accumulators; expected an operator on two tuples, that is one value for each accumulator, of its type, combined with it as a partial result is, or 'mdh.compute' with such a 'combine'}}
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%y, %z : tensor<7xi32>, tensor<7xi32>) {
  ^bb0(%a: i32, %o: i32, %p: i32):
    %s = arith.addi %o, %a : i32
    %t = arith.muli %p, %s : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<7xi32>, tensor<7xi32>)
  return %r#0, %r#1 : tensor<7xi32>, tensor<7xi32>
}

// -----

// Of an operator of one's own no laws are known: numbers may refute them.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @own
// CHECK:       linalg.generic
func.func @own(%x: tensor<7x13xi32>, %y: tensor<7xi32>) -> tensor<7xi32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates by an operator that is not associative, for x = (2), y = (0), z = (-2), f(f(x, y), z) = (0), but f(x, f(y, z)) = (-4): expected one whose parts can be combined, such as a sum, a maximum or a product}}
  %z = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%y : tensor<7xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.subi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<7xi32>
  return %z : tensor<7xi32>
}

// -----

// The element is not read.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @doubled
// CHECK:       linalg.generic
func.func @doubled(%x: tensor<7x13xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates by an operator that is not associative, for x = (}}
  %z = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%y : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %o : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %z : tensor<7xf32>
}

// -----

// What no number refutes may be associative.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @open
// CHECK:       linalg.generic
func.func @open(%x: tensor<7x13xi32>, %y: tensor<7xi32>) -> tensor<7xi32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates by an operator that is not known to be associative: where it is, put 'mdh.associative' on the operation, and 'mdh.commutative' where it is that}}
  %z = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%y : tensor<7xi32>) {
  ^bb0(%a: i32, %o: i32):
    %p = arith.muli %a, %o : i32
    %q = arith.addi %a, %o : i32
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  } -> tensor<7xi32>
  return %z : tensor<7xi32>
}

// -----

// Memory of which several indices are one element: what is written last depends on the order.
// CHECK-LABEL: func.func @one_for_all
// CHECK-NOT:   mdh.compute
func.func @one_for_all(%x: memref<5xi32>, %y: memref<1xi32>, %m: memref<16xi32>, %w: memref<3x3xi32>) {
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [5], strides: [0] : memref<1xi32> to memref<5xi32, strided<[0]>>
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its destination has the stride 0 in axis 0, so that several indices are one element, and what that holds depends on the order of its loops: expected memory with an element for each index}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<5xi32>) outs(%v : memref<5xi32, strided<[0]>>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  }
  // Under a type that does not say it.
  %c = memref.cast %v : memref<5xi32, strided<[0]>> to memref<5xi32, strided<[?], offset: ?>>
  // expected-remark@+1 {{its destination has the stride 0 in axis 0}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<5xi32>) outs(%c : memref<5xi32, strided<[?], offset: ?>>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  }
  // Rows that overlap.
  %r = memref.reinterpret_cast %m to offset: [0], sizes: [3, 3], strides: [2, 1] : memref<16xi32> to memref<3x3xi32, strided<[2, 1]>>
  // expected-remark@+1 {{its destination has the stride 2 in axis 0}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<3x3xi32>) outs(%r : memref<3x3xi32, strided<[2, 1]>>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  }
  return
}

// -----

// Elements between which there are others, in another order of the axes, are apart.
// CHECK-LABEL: func.func @transposed
// CHECK:       mdh.compute
func.func @transposed(%x: memref<3x1x4xi32>, %y: memref<24xi32>) {
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [3, 1, 4], strides: [2, 0, 6] : memref<24xi32> to memref<3x1x4xi32, strided<[2, 0, 6]>>
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : memref<3x1x4xi32>) outs(%v : memref<3x1x4xi32, strided<[2, 0, 6]>>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  }
  return
}

// -----

// Over several loops in any order, which the licence does not say.
#all = affine_map<(i, k) -> (i, k)>
#one = affine_map<(i, k) -> ()>
// CHECK-LABEL: func.func @ordered
// CHECK:       linalg.generic
func.func @ordered(%x: tensor<7x13xi32>, %y: tensor<i32>) -> tensor<i32> {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body accumulates over several loops by an operator that is not known to be commutative: where it is, put 'mdh.commutative' on the operation}}
  %z = linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<7x13xi32>) outs(%y : tensor<i32>) attrs = {mdh.associative} {
  ^bb0(%a: i32, %o: i32):
    %p = arith.muli %a, %o : i32
    %q = arith.addi %a, %o : i32
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %z : tensor<i32>
}

// -----

// A choice that an element that is no number wins; with fastmath<nnan> there is none.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @chosen
// CHECK:       linalg.generic
// CHECK:       linalg.generic
// CHECK:       mdh.compute
// CHECK:         md_hom(id, (cc, pw(maximumf)))
func.func @chosen(%x: tensor<7x13xf32>, %y: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  // expected-remark@+1 {{'linalg.generic' op stays as it is: its body chooses by comparing floats in a way that is not associative where one is no number, for x = (0.0), y = (NaN), z = (-1.0), f(f(x, y), z) = (-1.0), but f(x, f(y, z)) = (0.0): where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf', or take 'arith.maximumf' or 'arith.maxnumf'}}
  %u = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%y : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %o, %a : f32
    %s = arith.select %c, %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  // expected-remark@+1 {{or take 'arith.minimumf' or 'arith.minnumf'}}
  %v = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%y : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf uge, %o, %a : f32
    %s = arith.select %c, %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  %w = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x13xf32>) outs(%y : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.cmpf ogt, %o, %a fastmath<nnan> : f32
    %s = arith.select %c, %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %u, %v, %w : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

// -----

// The same with its place: of pairs there is no other operation to take.
#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func @chosen_pair
// CHECK:       linalg.generic
// CHECK:       mdh.compute
// CHECK:         combine select associative
func.func @chosen_pair(%x: tensor<7x13xf32>, %p: tensor<7x13xi32>, %y: tensor<7xf32>, %z: tensor<7xi32>)
    -> (tensor<7xf32>, tensor<7xi32>, tensor<7xf32>, tensor<7xi32>) {
  // expected-remark@+1 {{where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf'}}
  %u:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<7x13xf32>, tensor<7x13xi32>) outs(%y, %z : tensor<7xf32>, tensor<7xi32>) {
  ^bb0(%a: f32, %b: i32, %o: f32, %q: i32):
    %c = arith.cmpf ogt, %o, %a : f32
    %s = arith.select %c, %o, %a : f32
    %t = arith.select %c, %q, %b : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<7xf32>, tensor<7xi32>)
  %v:2 = linalg.generic {indexing_maps = [#rows, #rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %p : tensor<7x13xf32>, tensor<7x13xi32>) outs(%y, %z : tensor<7xf32>, tensor<7xi32>) {
  ^bb0(%a: f32, %b: i32, %o: f32, %q: i32):
    %c = arith.cmpf ogt, %o, %a fastmath<nnan> : f32
    %s = arith.select %c, %o, %a : f32
    %t = arith.select %c, %q, %b : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<7xf32>, tensor<7xi32>)
  return %u#0, %u#1, %v#0, %v#1 : tensor<7xf32>, tensor<7xi32>, tensor<7xf32>, tensor<7xi32>
}

// -----

// What has no loops of its own is made of several computations, in no order with what it writes.
// CHECK-LABEL: func.func @softmax_of_itself
// CHECK:       linalg.softmax
func.func @softmax_of_itself(%m: memref<5x4xf32>) {
  %x = memref.subview %m[1, 0] [4, 4] [1, 1] : memref<5x4xf32> to memref<4x4xf32, strided<[4, 1], offset: 4>>
  %y = memref.subview %m[0, 0] [4, 4] [1, 1] : memref<5x4xf32> to memref<4x4xf32, strided<[4, 1]>>
  // expected-remark@+1 {{'linalg.softmax' op stays as it is: a destination may share memory with operand 0}}
  linalg.softmax dimension(1) ins(%x : memref<4x4xf32, strided<[4, 1], offset: 4>>)
      outs(%y : memref<4x4xf32, strided<[4, 1]>>)
  return
}

// -----

// What an encoding says of where elements are, nobody here knows.
#sparse = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
// CHECK-LABEL: func.func @sparse
// CHECK:       linalg.matvec
func.func @sparse(%x: tensor<4x5xf32, #sparse>, %y: tensor<5xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@+1 {{'linalg.matvec' op stays as it is: an operand has the type}}
  %r = linalg.matvec ins(%x, %y : tensor<4x5xf32, #sparse>, tensor<5xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
