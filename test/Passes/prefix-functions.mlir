// Functions get names that no library has.
//
// RUN: mdh-opt %s --mdh-prefix-functions | FileCheck %s

// CHECK-LABEL: func.func @mdh.exp(
func.func @exp(%x: f64) -> f64 {
  return %x : f64
}

// What calls it, or has it as a value, goes along.
// CHECK-LABEL: func.func @mdh.main(
// CHECK:       call @mdh.exp(
// CHECK:       constant @mdh.exp :
// CHECK:       call @sin(
func.func @main(%x: f64) -> f64 {
  %y = call @exp(%x) : (f64) -> f64
  %f = constant @exp : (f64) -> f64
  %z = call_indirect %f(%y) : (f64) -> f64
  %w = call @sin(%z) : (f64) -> f64
  return %w : f64
}

// Silent: what has no body is found elsewhere by its name.
// CHECK: func.func private @sin(f64) -> f64
func.func private @sin(f64) -> f64

// Refuses nothing: every name can be longer.
