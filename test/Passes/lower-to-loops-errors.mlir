// RUN: mdh-opt %s --mdh-lower-to-loops --verify-diagnostics

func.func @tensors(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{works on tensors: loops need memrefs; run one-shot-bufferize first}}
  %r = mdh.compute (i = 9)
    out_view(%y[i] : tensor<9xf32>)
    md_hom(id, (cc)) inp_view(%x[i] : tensor<9xf32>)
  return %r : tensor<9xf32>
}
