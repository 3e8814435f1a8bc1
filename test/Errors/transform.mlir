// Transform operations: what is wrong with one, and what cannot be applied.
//
// RUN: mdh-opt %s --split-input-file --transform-interpreter --verify-diagnostics

func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.stage' op found neither a region nor a layout, expected 'in' or 'layout'}}
  transform.mdh.stage %c A at main.i : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.combine' op invalid value: string "main", expected a level, 'layer.dimension'}}
  transform.mdh.combine %c A at main in L1 : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.order' op unknown variant `first`, expected one of `decompose`, `scalar`, `recompose`}}
  transform.mdh.order %c first [main.i] : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.assign' op invalid type: sequence, expected names with values, '{name: value}'}}
  transform.mdh.assign %c scalar [main.i] : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.scalar' op found no layout, expected 'row_major', 'permuted(..)', 'blocked(..)', 'padded(..)', a list of these}}
  transform.mdh.scalar %c input A layout col_major : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.tails' op unknown variant `mak`, expected `peel` or `mask`}}
  transform.mdh.tails %c {i: mak} : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.asm' op found "a\tb", expected a name without control characters}}
  transform.mdh.asm %c "a\09b" : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{'transform.mdh.parts' op has 1 place for parameters, but 0 parameters}}
  "transform.mdh.parts"(%c) {layer = "main", counts = {i}} : (!transform.any_op) -> ()
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{found "i" twice}}
  transform.mdh.parts %c main {i: 2, i: 3} : !transform.any_op
  return
}

// -----
func.func private @f(%c: !transform.any_op) {
  // expected-error @+1 {{found more than 32 nested values}}
  transform.mdh.tails %c [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] : !transform.any_op
  return
}

// -----
// What an operation is applied to.
module attributes {transform.with_named_sequence} {
  // expected-note @+1 {{when applied to this op}}
  func.func private @g()
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{transform.mdh.asm changes schedules, which func.func has not: expected a handle of mdh.compute or mdh.hom}}
    transform.mdh.asm %f cpu : !transform.any_op
    transform.yield
  }
}

// -----
// An empty handle is no error, but is said.
module attributes {transform.with_named_sequence} {
  func.func private @g()
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["mdh.compute"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-remark @+1 {{transform.mdh.asm does nothing: its handle is empty}}
    transform.mdh.asm %c cpu : !transform.any_op
    transform.yield
  }
}

// -----
// Names that are not there.
module attributes {transform.with_named_sequence} {
  // expected-note @+1 {{when applied to this op}}
  func.func @g(%x: memref<8xf32>, %y: memref<8xf32>) {
    mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{transform.mdh.match found 0 computations 'z', expected one: a position from 0, or one of y}}
    %c = transform.mdh.match z in %f : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----
// Layers and parameters.
module attributes {transform.with_named_sequence} {
  func.func @g(%x: memref<8xf32>, %y: memref<8xf32>) {
    // expected-note @+1 {{when applied to this op}}
    mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.mdh.match y in %root : (!transform.any_op) -> !transform.any_op
    transform.mdh.parts %c core {i: 2} : !transform.any_op
    // expected-error @+1 {{transform.mdh.parts found no layer 'L1' to put 'main' outside of, expected one of core}}
    transform.mdh.parts %c main {} outside L1 : !transform.any_op
    transform.yield
  }
}

// -----
module attributes {transform.with_named_sequence} {
  func.func @g(%x: memref<8xf32>, %y: memref<8xf32>) {
    mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.mdh.match y in %root : (!transform.any_op) -> !transform.any_op
    %p = transform.param.constant "two" -> !transform.any_param
    // expected-error @+1 {{transform.mdh.parts has the parameter "two": expected an integer, a number of parts}}
    transform.mdh.parts %c core {i: %p} : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----
// An open knob: upstream's operation refuses.
module attributes {transform.with_named_sequence} {
  func.func @g(%x: memref<8xf32>, %y: memref<8xf32>) {
    mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.mdh.match y in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{non-deterministic choice "cores" is only resolved through providing a `selected` attr}}
    %p = transform.tune.knob<"cores"> options = [2, 4] -> !transform.param<i64>
    transform.mdh.parts %c core {i: %p} : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

// -----
// All broken constraints, where the script says that a schedule is complete.
module attributes {transform.with_named_sequence} {
  func.func @g(%x: memref<64xf32>, %y: memref<64xf32>) {
    // expected-note @+1 {{when applied to this op}}
    mdh.compute (i = 64) out_view(y = %y[i] : memref<64xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<64xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.mdh.match y in %root : (!transform.any_op) -> !transform.any_op
    // expected-note @+1 {{this is what the schedule has here}}
    transform.mdh.parts %c main {i: 4} : !transform.any_op
    transform.mdh.parts %c core {i: 2} : !transform.any_op
    // expected-note @+1 {{this is what the schedule has here}}
    transform.mdh.scalar %c input z in L1 : !transform.any_op
    // expected-error @+2 {{transform.mdh.lower found that the computation has a schedule that breaks 'cover': dimension 'i' has 64 points, but its parts cover 8: leave the outermost count out or write '*'}}
    // expected-error @+1 {{transform.mdh.lower found that the computation has a schedule that breaks 'unknown-buffer': found input 'z', expected one of x}}
    transform.mdh.lower %c : !transform.any_op
    transform.yield
  }
}

// -----
module attributes {transform.with_named_sequence} {
  func.func @g(%x: memref<8xf32>, %y: memref<8xf32>) {
    // expected-note @+1 {{when applied to this op}}
    mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.mdh.match y in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{transform.mdh.lower found that the computation has no schedule}}
    transform.mdh.lower %c : !transform.any_op
    transform.yield
  }
}

// -----
// A failure can be passed over; then nothing has changed.
module attributes {transform.with_named_sequence} {
  func.func @g(%x: memref<8xf32>, %y: memref<8xf32>) {
    mdh.compute (i = 8) out_view(y = %y[i] : memref<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<8xf32>)
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.sequence %root : !transform.any_op failures(suppress) {
    ^bb0(%inner: !transform.any_op):
      %c = transform.mdh.match y in %inner : (!transform.any_op) -> !transform.any_op
      transform.mdh.parts %c core {i: 2} outside L1 : !transform.any_op
    }
    transform.yield
  }
}
