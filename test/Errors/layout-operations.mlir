// What is no layout, and what one cannot be asked.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected '<', a layout and '>' directly after 'layout'}}
func.func private @f() attributes {layout = #mdh<layout>}

// -----
// expected-error @+1 {{the permutation [1,1] lacks 2, expected each of 1 to 2 once}}
func.func private @f() attributes {layout = #mdh.layout<RegP([2,3],[1,1])>}

// -----
// expected-error @+1 {{12}}
func.func private @f() attributes {layout = #mdh.layout<OrderBy(Row([3,4])).GroupBy([6,6])>}

// -----
// expected-error @+1 {{expected an offset of 0 to}}
func.func private @f() attributes {layout = #mdh.layout<GenP([4],i -> 4 - i, x -> 4 - x)>}

// -----
// expected-error @+1 {{not proven; open: }}
func.func private @f() attributes {layout = #mdh.layout<GenP([4],table(p,q))>}

// -----
// expected-error @+1 {{found no pair of functions 'hilbrt'}}
func.func private @f() attributes {layout = #mdh.layout<GenP([4,4],hilbrt)>}

// -----
func.func @f(%i: index) -> index {
  // expected-error @+1 {{'mdh.layout.apply' op has 1 component, but the layout's view has 2 dimensions: expected one for each}}
  %p = mdh.layout.apply #mdh.layout<Col([4,6])>[%i]
  return %p : index
}

// -----
func.func @f(%p: index) -> index {
  // expected-error @+1 {{'mdh.layout.inv' op has 1 result, but the layout's view has 2 dimensions: expected one for each}}
  %i = mdh.layout.inv #mdh.layout<Col([4,6])>[%p] : index
  return %i : index
}

// -----
func.func @f(%i: index, %m: index) -> index {
  // expected-error @+2 {{'mdh.layout.apply' op lacks a value for the layout's symbol 'n'}}
  // expected-error @+1 {{'mdh.layout.apply' op has 2 values for the layout's symbol 'm', expected one}}
  %p = mdh.layout.apply #mdh.layout<Col([m,n])>[%i, %i] with(m = %m, m = %m)
  return %p : index
}

// -----
func.func @f(%i: index, %m: index) -> index {
  // expected-error @+1 {{'mdh.layout.apply' op has a value for 'k', but its layout has no symbols}}
  %p = mdh.layout.apply #mdh.layout<Col([4,6])>[%i, %i] with(k = %m)
  return %p : index
}

// -----
func.func @f(%m: memref<64xf32>) {
  // expected-error @+1 {{'mdh.layout.view' op makes memref<8x8xf32>: expected a layout as its memory space}}
  %0 = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32>
  return
}

// -----
func.func @f(%m: memref<64xf32>) {
  // expected-error @+1 {{expected 4x16 as the sizes of its last axes, those of the layout}}
  %0 = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<Col([4,16])>>
  return
}

// -----
func.func @f(%m: memref<60xf32>) {
  // expected-error @+1 {{expected memory of the axes before, and of one of 64 elements}}
  %0 = mdh.layout.view %m : memref<60xf32> to memref<8x8xf32, #mdh.layout<Col([8,8])>>
  return
}
