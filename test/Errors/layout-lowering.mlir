// What cannot be computed in the integers that there are, or does not keep the layout's bounds.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-layout-to-arith

func.func @f(%i: index, %m: index) -> index {
  // expected-error @+1 {{'mdh.layout.apply' op cannot be lowered: }}
  %p = mdh.layout.apply #mdh.layout<Col([m,m])>[%i, %i] with(m = %m)
  return %p : index
}

// -----
func.func @f(%i: index) -> index {
  %c100 = arith.constant 100 : index
  // expected-error @+1 {{'mdh.layout.apply' op takes 100 for 'm', expected 1 to 64}}
  %p = mdh.layout.apply #mdh.layout<Col([m,4]) where m = 1..64>[%i, %i] with(m = %c100)
  return %p : index
}
