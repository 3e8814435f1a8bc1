// Triples that cannot be formed.
//
// RUN: mdh-opt %s --mdh-form-compute --split-input-file --verify-diagnostics

// A buffer from outside.
func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %mda = mdh.inp_view (i = 8) (%x[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  %hom = mdh.hom((%a: f32) {
    %b = tensor.extract %x[%c0] : tensor<8xf32>
    mdh.yield %b : f32
  }, (cc)) %mda : !mdh.mda<8, f32> -> !mdh.mda<8, f32>
  // expected-error @+1 {{has a scalar function that uses a value of type tensor<8xf32> from outside: expected scalars; read the buffer through mdh.inp_view}}
  %w = mdh.out_view (i) %hom -> (%y[i] : tensor<8xf32>) : !mdh.mda<8, f32>
  return %w : tensor<8xf32>
}

// -----
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
