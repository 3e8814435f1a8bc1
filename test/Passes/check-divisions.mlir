// Integer divisions have a result, or the program says which has none.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-check-divisions | FileCheck %s

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME:  (%[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK:       %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:  %[[SOME:.*]] = arith.cmpi ne, %[[Y]], %[[ZERO]] : i32
// CHECK-NEXT:  cf.assert %[[SOME]], "divides by zero"
// CHECK-NEXT:  arith.remui %[[X]], %[[Y]]
func.func @unsigned(%x: i32, %y: i32) -> i32 {
  %r = arith.remui %x, %y : i32
  return %r : i32
}

// The smallest number divided by -1 is no number of the type either.
// CHECK-LABEL: func.func @signed
// CHECK:       cf.assert %{{.*}}, "divides by zero"
// CHECK:       arith.constant -9223372036854775808 : i64
// CHECK:       cf.assert %{{.*}}, "divides the smallest integer by -1"
// CHECK-NEXT:  arith.floordivsi
func.func @signed(%x: i64, %y: i64) -> i64 {
  %r = arith.floordivsi %x, %y : i64
  return %r : i64
}

// A divisor that is known needs one of them, or none.
// CHECK-LABEL: func.func @known
// CHECK-NOT:   cf.assert
// CHECK:       arith.divsi
// CHECK-NOT:   by zero
// CHECK:       cf.assert %{{.*}}, "divides the smallest integer by -1"
// CHECK-NEXT:  arith.divsi
// CHECK-NOT:   cf.assert
// CHECK:       return
func.func @known(%x: i32) -> (i32, i32) {
  %c7 = arith.constant 7 : i32
  %minus = arith.constant -1 : i32
  %a = arith.divsi %x, %c7 : i32
  %b = arith.divsi %x, %minus : i32
  return %a, %b : i32, i32
}

// Nor does one that is positive whatever the extents are, ..
// CHECK-LABEL: func.func @points_of_a_core
// CHECK-NOT:   cf.assert
// CHECK:       return
func.func @points_of_a_core(%x: memref<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %extent = memref.dim %x, %c0 : memref<?xf32>
  %parts = arith.ceildivsi %extent, %c256 : index
  %some = arith.maxsi %parts, %c1 : index
  %points = arith.muli %some, %c128 : index
  %cores = arith.ceildivsi %extent, %points : index
  %rest = arith.remui %extent, %points : index
  return %cores, %rest : index, index
}

// .. but one that may be beyond 64 bits is any number.
// CHECK-LABEL: func.func @wraps
// CHECK:       cf.assert %{{.*}}, "divides by zero"
// CHECK:       arith.remui
func.func @wraps(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %some = arith.maxsi %n, %c1 : index
  %points = arith.muli %some, %c128 : index
  %rest = arith.remui %n, %points : index
  return %rest : index
}

// -----

// CHECK-LABEL: func.func @lanes
// CHECK-NOT:   cf.assert
// CHECK:       arith.divui
func.func @lanes(%x: vector<4xi32>, %y: vector<4xi32>) -> vector<4xi32> {
  // expected-remark @+1 {{is not checked: found operands of type vector<4xi32>, expected one number each; check the lanes one by one, or divide before vectors are made}}
  %r = arith.divui %x, %y : vector<4xi32>
  return %r : vector<4xi32>
}

// -----

// That 0 is divided by an extent of 0, as upstream's assertions have it, says that it is 0; of the program's own
// remainder it says nothing.
// CHECK-LABEL: func.func @upstream
// CHECK-SAME:  (%[[N:.*]]: index)
// CHECK:       %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NOT:   remsi
// CHECK:       %[[IS:.*]] = arith.cmpi eq, %[[N]], %[[ZERO]]
// CHECK-NOT:   by zero
// CHECK:       cf.assert %[[IS]], "ERROR: Runtime op verification failed
// CHECK:       cf.assert %{{.*}}, "divides by zero"
// CHECK:       arith.remsi
// CHECK:       return
func.func @upstream(%n: index) {
  %c0 = arith.constant 0 : index
  %r = arith.remsi %n, %c0 : index
  %is = arith.cmpi eq, %r, %c0 : index
  cf.assert %is, "ERROR: Runtime op verification failed\n%e = memref.expand_shape ..\n^ static result dims in reassoc group do not divide src dim evenly\nLocation: loc(\"a.mlir\":1:1)"
  %own = arith.remsi %n, %c0 : index
  %positive = arith.cmpi sge, %own, %c0 : index
  cf.assert %positive, "is negative"
  return
}

// Refuses nothing: a division of any other type stays as it is.
