// Elements that bodies take from tensors by themselves.
//
// RUN: mdh-opt %s --split-input-file --mdh-raise-linalg --verify-diagnostics | FileCheck %s

// The same element is one input.
// CHECK-LABEL: func.func @convolved
// CHECK:       mdh.compute (i = 20, k = 5)
// CHECK:         md_hom((%{{.*}}: f32, %{{.*}}: f32) {
// CHECK:         inp_view(in = %{{.*}}[k] : tensor<5xf32>, in_1 = %{{.*}}[i + k + 1] : tensor<25xf32>)
func.func @convolved(%x: tensor<25xf32>, %w: tensor<5xf32>, %f: tensor<20xf32>) -> tensor<20xf32> {
  %one = arith.constant 1 : i32
  %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<5xf32>) outs(%f : tensor<20xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %i4 = arith.index_cast %i : index to i32
    %less = arith.addi %i4, %one : i32
    %at = arith.index_cast %less : i32 to index
    %ik = arith.addi %at, %k : index
    %a = tensor.extract %x[%ik] : tensor<25xf32>
    %again = tensor.extract %x[%ik] : tensor<25xf32>
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %again : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %y : tensor<20xf32>
}

// -----

// Where it is not extracted there may be no element, and padding is read.
// CHECK-LABEL: func.func @conditional
// CHECK:       inp_view(before = %{{.*}}[i] : tensor<20xf32>, in = %{{.*}}[i] pad(0.000000e+00 : f32) : tensor<8xf32>)
func.func @conditional(%t: tensor<8xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %eight = arith.constant 8 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %is_in = arith.cmpi slt, %i, %eight : index
    %s = scf.if %is_in -> f32 {
      %a = tensor.extract %t[%i] : tensor<8xf32>
      scf.yield %a : f32
    } else {
      scf.yield %o : f32
    }
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// What a loop of the body extracts is many elements.
// CHECK-LABEL: func.func @looped
// CHECK:       linalg.generic
func.func @looped(%t: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // expected-remark@+1 {{its body has 'tensor.extract' in a loop: expected it in each iteration}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %s = scf.for %k = %c0 to %c5 step %c1 iter_args(%sum = %o) -> f32 {
      %a = tensor.extract %t[%i] : tensor<20xf32>
      %more = arith.addf %sum, %a : f32
      scf.yield %more : f32
    }
    linalg.yield %s : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// A square is no index function.
// CHECK-LABEL: func.func @square
// CHECK:       linalg.generic
func.func @square(%t: tensor<400xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  // expected-remark@+1 {{at an index that 'arith.muli' makes, which is no sum with constant factors or may leave its type: expected one that is computed}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %ii = arith.muli %i, %i : index
    %a = tensor.extract %t[%ii] : tensor<400xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// The first iteration takes what is not there: as it is written, anything may happen then.
// CHECK-LABEL: func.func @before
// CHECK:       linalg.generic
func.func @before(%t: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %one = arith.constant 1 : index
  // expected-remark@+1 {{'linalg.generic' op stays as it is: as a computation, it}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %before = arith.subi %i, %one : index
    %a = tensor.extract %t[%before] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// Divisions are those of index functions, where what they divide is not negative, or they round down.
// CHECK-LABEL: func.func @divided
// CHECK:       inp_view(in = %{{.*}}[i floordiv 2, j mod 3, (i * 3 + j) floordiv 4, (i - 1) floordiv 2 + 1, j ceildiv 2] : tensor<3x3x6x4x4xf32>)
func.func @divided(%t: tensor<3x3x6x4x4xf32>, %y: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : i32
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<6x6xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %half = arith.divui %i, %two : index
    %rest = arith.remsi %j, %three : index
    %i3 = arith.muli %i, %three : index
    %flat = arith.addi %i3, %j : index
    %flat32 = arith.index_cast %flat : index to i32
    %quarter32 = arith.divsi %flat32, %four : i32
    %quarter = arith.index_castui %quarter32 : i32 to index
    %before = arith.subi %i, %one : index
    %down = arith.floordivsi %before, %two : index
    %down1 = arith.addi %down, %one : index
    %up = arith.ceildivui %j, %two : index
    %a = tensor.extract %t[%half, %rest, %quarter, %down1, %up] : tensor<3x3x6x4x4xf32>
    linalg.yield %a : f32
  } -> tensor<6x6xf32>
  return %z : tensor<6x6xf32>
}

// -----

// No loop is endless, and none of its indices is negative.
// CHECK-LABEL: func.func @open
// CHECK:       inp_view(before = %{{.*}}[i] : tensor<?xf32>, in = %{{.*}}[i floordiv 2] : tensor<?xf32>)
func.func @open(%t: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %two = arith.constant 2 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %half = arith.divui %i, %two : index
    %a = tensor.extract %t[%half] : tensor<?xf32>
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// Bounds that cut off one index on a side are quotients, also of several loops; other bounds change nothing.
// CHECK-LABEL: func.func @bounded
// CHECK:       inp_view(in = %{{.*}}[((i + j - 1) * 8 + 8) floordiv 9, i, 3] : tensor<9x6x4xf32>)
func.func @bounded(%t: tensor<9x6x4xf32>, %y: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %eight = arith.constant 8 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<6x6xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %both = arith.addi %i, %j : index
    %before = arith.subi %both, %one : index
    %high = arith.minsi %eight, %before : index
    %inside = arith.maxsi %high, %zero : index
    %same = arith.minui %i, %eight : index
    %i3 = arith.addi %i, %three : index
    %last = arith.minsi %i3, %three : index
    %a = tensor.extract %t[%inside, %same, %last] : tensor<9x6x4xf32>
    linalg.yield %a : f32
  } -> tensor<6x6xf32>
  return %z : tensor<6x6xf32>
}

// -----

// Whatever one loop alone computes is tabulated: it is a quotient, if one has these values. That of a shift is
// one, that of a comparison too, and two bounds that cut off more, of few indices.
// CHECK-LABEL: func.func @tabulated
// CHECK:       inp_view(in = %{{.*}}[i floordiv 4, (i + 2) floordiv 5, i floordiv 5] : tensor<2x2x2xf32>)
func.func @tabulated(%t: tensor<2x2x2xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %quarter = arith.shrui %i, %two : index
    %is_behind = arith.cmpi sge, %i, %three : index
    %behind = arith.select %is_behind, %one, %zero : index
    %from4 = arith.subi %i, %four : index
    %low = arith.maxsi %from4, %zero : index
    %high = arith.minsi %low, %one : index
    %a = tensor.extract %t[%quarter, %behind, %high] : tensor<2x2x2xf32>
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// By 1, any number is itself, and there is no rest.
// CHECK-LABEL: func.func @by_one
// CHECK:       mdh.compute
// CHECK:       %arg0[i - j + 19, 0]
func.func @by_one(%t: tensor<39x1xf32>, %y: tensor<20x20xf32>) -> tensor<20x20xf32> {
  %one = arith.constant 1 : index
  %last = arith.constant 19 : index
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<20x20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %same = arith.divsi %d, %one : index
    %rest = arith.remsi %d, %one : index
    %e = arith.addi %same, %last : index
    %a = tensor.extract %t[%e, %rest] : tensor<39x1xf32>
    linalg.yield %a : f32
  } -> tensor<20x20xf32>
  return %z : tensor<20x20xf32>
}

// -----

// Rounded to zero, -1 is another index than rounded down.
// CHECK-LABEL: func.func @truncated
// CHECK:       linalg.generic
func.func @truncated(%t: tensor<20xf32>, %y: tensor<20x20xf32>) -> tensor<20x20xf32> {
  %two = arith.constant 2 : index
  // expected-remark@+1 {{at an index that 'arith.divsi' makes, which rounds to zero, and divides what may be minus its divisor or less: expected one}}
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<20x20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %half = arith.divsi %d, %two : index
    %e = arith.muli %half, %half : index
    %a = tensor.extract %t[%e] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20x20xf32>
  return %z : tensor<20x20xf32>
}

// -----

// -1 is a huge number to it: as it is written, that is outside.
// CHECK-LABEL: func.func @huge
// CHECK:       linalg.generic
func.func @huge(%t: tensor<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  // expected-remark@+1 {{at an index that 'arith.divui' makes, to which negative numbers are huge, and which divides what may be negative}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %before = arith.subi %i, %one : index
    %half = arith.divui %before, %two : index
    %a = tensor.extract %t[%half] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// CHECK-LABEL: func.func @by_an_index
// CHECK:       linalg.generic
func.func @by_an_index(%t: tensor<20xf32>, %y: tensor<20x20xf32>) -> tensor<20x20xf32> {
  %one = arith.constant 1 : index
  // expected-remark@+1 {{at an index that 'arith.divui' makes, which divides by what is no positive constant}}
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<20x20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %j1 = arith.addi %j, %one : index
    %part = arith.divui %i, %j1 : index
    %a = tensor.extract %t[%part] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20x20xf32>
  return %z : tensor<20x20xf32>
}

// -----

// A bound that stays for long is no quotient.
// CHECK-LABEL: func.func @far
// CHECK:       linalg.generic
func.func @far(%t: tensor<20xf32>, %y: tensor<40xf32>) -> tensor<40xf32> {
  %last = arith.constant 19 : index
  // expected-remark@+1 {{at an index that 'arith.minsi' makes, which cuts off more than one index, so that the rest is no quotient}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<40xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %at = arith.minsi %i, %last : index
    %a = tensor.extract %t[%at] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<40xf32>
  return %z : tensor<40xf32>
}

// -----

// CHECK-LABEL: func.func @data
// CHECK:       linalg.generic
func.func @data(%t: tensor<20xf32>, %x: tensor<20xindex>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %two = arith.constant 2 : index
  // expected-remark@+1 {{its body has 'tensor.extract' at an index that is data: expected one}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<20xindex>) outs(%y : tensor<20xf32>) {
  ^bb0(%p: index, %o: f32):
    %half = arith.divui %p, %two : index
    %a = tensor.extract %t[%half] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// What is loaded from memory is an input too, with padding in branches.
// CHECK-LABEL: func.func @loaded
// CHECK:       inp_view(before = %{{.*}}[i] : memref<20xf32>, in = %{{.*}}[i floordiv 2] pad(0.000000e+00 : f32) : memref<8xf32>)
func.func @loaded(%t: memref<8xf32>, %y: memref<20xf32>) {
  %two = arith.constant 2 : index
  %eight = arith.constant 8 : index
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %is_in = arith.cmpi slt, %i, %eight : index
    %s = scf.if %is_in -> f32 {
      %half = arith.divui %i, %two : index
      %a = memref.load %t[%half] : memref<8xf32>
      scf.yield %a : f32
    } else {
      scf.yield %o : f32
    }
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @loaded_from_the_destination
// CHECK:       linalg.generic
func.func @loaded_from_the_destination(%y: memref<20xf32>) {
  %two = arith.constant 2 : index
  // expected-remark@+1 {{its body loads from memory that destination 0 may share}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %half = arith.divui %i, %two : index
    %a = memref.load %y[%half] : memref<20xf32>
    linalg.yield %a : f32
  }
  return
}

// -----

// A tensor says nothing of what memory holds when.
// CHECK-LABEL: func.func @loaded_by_a_tensor
// CHECK:       linalg.generic
func.func @loaded_by_a_tensor(%t: memref<20xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  // expected-remark@+1 {{its body has 'memref.load': expected numbers}}
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = memref.load %t[%i] : memref<20xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %z : tensor<20xf32>
}

// -----

// What is no index of the loops is named: another operation, and numbers from outside.
// CHECK-LABEL: func.func @causes
// CHECK-COUNT-2: linalg.generic
func.func @causes(%t: tensor<20xf32>, %n: index, %y: tensor<20xf32>) -> (tensor<20xf32>, tensor<20xf32>) {
  // expected-remark@+1 {{at an index that 'math.absi' makes, which is no operation of index functions: expected one}}
  %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%t : tensor<20xf32>) outs(%y : tensor<20xf32>) {
  ^bb0(%e: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %distance = math.absi %d : index
    %a = tensor.extract %t[%distance] : tensor<20xf32>
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<20xf32>
  // expected-remark@+1 {{at an index that is known at run time only: expected one}}
  %v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<20xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %later = arith.addi %i, %n : index
    %a = tensor.extract %t[%later] : tensor<20xf32>
    linalg.yield %a : f32
  } -> tensor<20xf32>
  return %u, %v : tensor<20xf32>, tensor<20xf32>
}
