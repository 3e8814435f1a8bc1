// Triples that cannot be formed.
//
// RUN: mdh-opt %s --mdh-form-compute --split-input-file --verify-diagnostics

// Bounds too far apart for a buffer.
func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %mda = mdh.inp_view (i = -9223372036854775807 to 9223372036854775807 step 4611686018427387904)
      (%x[] : tensor<f32>) : !mdh.mda<4, f32>
  %a = mdh.hom(id, (ps(addf))) %mda : !mdh.mda<4, f32> -> !mdh.mda<4, f32>
  %b = mdh.hom(id, (pw(mulf))) %a : !mdh.mda<4, f32> -> !mdh.mda<1, f32>
  // expected-error @+1 {{needs a buffer between two homs, of all indices from -9223372036854775807 to 9223372036854775807 in dimension 'i': expected bounds that are less than 2^63 apart}}
  %w = mdh.out_view (i) %b -> (%y[] : tensor<f32>) : !mdh.mda<1, f32>
  return %w : tensor<f32>
}
