// Memory that a call gives a function twice.
//
// RUN: mdh-opt %s --mdh-raise-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @transposed(
// CHECK-SAME:  attributes {mdh.may_alias}
// CHECK-NOT:   mdh.compute
func.func private @transposed(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  // expected-remark @+1 {{'linalg.transpose' op stays as it is: a destination may share memory with operand 0, so that what it makes depends on the order of its loops: expected memory of its own, or the same memref ('mdh.may_alias' is on the function: a call gives it memory twice, or it is written there)}}
  linalg.transpose ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) permutation = [1, 0]
  return
}

// What it is given it passes on.
// CHECK-LABEL: func.func private @passed_on(
// CHECK-SAME:  attributes {mdh.may_alias}
func.func private @passed_on(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  call @transposed(%a, %b) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  return
}

func.func @twice(%m: memref<4x4xf32>) {
  call @passed_on(%m, %m) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  return
}

// -----

// Parts that overlap.
// CHECK-LABEL: func.func private @shifted(
// CHECK-SAME:  attributes {mdh.may_alias}
// CHECK-NOT:   mdh.compute
func.func private @shifted(%a: memref<7xf32, strided<[1], offset: ?>>, %b: memref<7xf32, strided<[1], offset: ?>>) {
  // expected-remark @+1 {{'linalg.copy' op stays as it is: a destination may share memory with operand 0}}
  linalg.copy ins(%a : memref<7xf32, strided<[1], offset: ?>>) outs(%b : memref<7xf32, strided<[1], offset: ?>>)
  return
}

func.func @parts(%m: memref<8xf32>) {
  %a = memref.subview %m[0] [7] [1] : memref<8xf32> to memref<7xf32, strided<[1]>>
  %b = memref.subview %m[1] [7] [1] : memref<8xf32> to memref<7xf32, strided<[1], offset: 1>>
  %c = memref.cast %a : memref<7xf32, strided<[1]>> to memref<7xf32, strided<[1], offset: ?>>
  %d = memref.cast %b : memref<7xf32, strided<[1], offset: 1>> to memref<7xf32, strided<[1], offset: ?>>
  call @shifted(%c, %d) : (memref<7xf32, strided<[1], offset: ?>>, memref<7xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Called through a value: nobody sees with what.
// CHECK-LABEL: func.func @taken(
// CHECK-SAME:  attributes {mdh.may_alias}
func.func @taken(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-remark @+1 {{stays as it is: a destination may share memory with operand 0}}
  linalg.copy ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  return
}

func.func @through_a_value(%m: memref<4xf32>) {
  %f = constant @taken : (memref<4xf32>, memref<4xf32>) -> ()
  call_indirect %f(%m, %m) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// Written by whoever knows it.
// CHECK-LABEL: func.func @written(
// CHECK-NOT:   mdh.compute
func.func @written(%a: memref<4xf32>, %b: memref<4xf32>) attributes {mdh.may_alias} {
  // expected-remark @+1 {{stays as it is: a destination may share memory with operand 0}}
  linalg.copy ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  return
}

// -----

// Different memory in every call, also where two callers have the same.
// CHECK-LABEL: func.func private @apart(
// CHECK-NOT:   may_alias
// CHECK:       mdh.compute
func.func private @apart(%a: memref<4xf32>, %b: memref<4xf32>) {
  linalg.copy ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  return
}

func.func @once(%m: memref<4xf32>, %n: memref<4xf32>) {
  %t = memref.alloc() : memref<4xf32>
  call @apart(%m, %t) : (memref<4xf32>, memref<4xf32>) -> ()
  call @apart(%t, %n) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// Parts that do not meet.
// CHECK-LABEL: func.func private @halves(
// CHECK-NOT:   may_alias
// CHECK:       mdh.compute
func.func private @halves(%a: memref<?xi32, strided<[1], offset: ?>>, %b: memref<?xi32, strided<[1], offset: ?>>) {
  linalg.map {math.absi} ins(%a : memref<?xi32, strided<[1], offset: ?>>) outs(%b : memref<?xi32, strided<[1], offset: ?>>)
  return
}

func.func @of_one(%m: memref<64xi32>) {
  %a = memref.subview %m[0] [32] [1] : memref<64xi32> to memref<32xi32, strided<[1]>>
  %b = memref.subview %m[32] [32] [1] : memref<64xi32> to memref<32xi32, strided<[1], offset: 32>>
  %c = memref.cast %a : memref<32xi32, strided<[1]>> to memref<?xi32, strided<[1], offset: ?>>
  %d = memref.cast %b : memref<32xi32, strided<[1], offset: 32>> to memref<?xi32, strided<[1], offset: ?>>
  call @halves(%c, %d) : (memref<?xi32, strided<[1], offset: ?>>, memref<?xi32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A global variable under an argument's name, passed on by a caller.
// CHECK-LABEL: func.func private @global(
// CHECK-SAME:  attributes {mdh.may_alias}
memref.global @x : memref<4x4xf32>
func.func private @global(%a: memref<4x4xf32>) {
  %b = memref.get_global @x : memref<4x4xf32>
  // expected-remark @+1 {{'linalg.transpose' op stays as it is: a destination may share memory with operand 0}}
  linalg.transpose ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) permutation = [1, 0]
  return
}

func.func private @between(%a: memref<4x4xf32>) {
  call @global(%a) : (memref<4x4xf32>) -> ()
  return
}

func.func @of_global() {
  %b = memref.get_global @x : memref<4x4xf32>
  call @between(%b) : (memref<4x4xf32>) -> ()
  return
}

// -----

// A block's argument is what branches pass.
// CHECK-LABEL: func.func @branch(
// CHECK-NOT:   mdh.compute
func.func @branch(%m: memref<4x4xf32>) {
  cf.br ^bb1(%m, %m : memref<4x4xf32>, memref<4x4xf32>)
^bb1(%a: memref<4x4xf32>, %b: memref<4x4xf32>):
  // expected-remark @+1 {{'linalg.transpose' op stays as it is: a destination may share memory with operand 0}}
  linalg.transpose ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) permutation = [1, 0]
  return
}
