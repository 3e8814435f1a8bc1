// Computations that copy a buffer as it is.
//
// RUN: mdh-opt %s --canonicalize | FileCheck %s

// Into the buffer itself, wherever.
// CHECK-LABEL: @onto_itself
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @onto_itself(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = mdh.compute (i = 3 to %n step 2)
    out_view(y = %x[i] origin(%n) : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] origin(%n) : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// The domain is the destination's, by its sizes; a permutation, an origin; two outputs.
// CHECK-LABEL: @whole
// CHECK-NEXT: return %arg0, %arg1 :
func.func @whole(%x: tensor<?x4xf32>, %z: tensor<8xi8>, %w: tensor<8xi8>)
    -> (tensor<?x4xf32>, tensor<8xi8>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = mdh.compute (i = %n, j = 4)
    out_view(e = %e[i, j] : tensor<?x4xf32>)
    md_hom((%a: f32) {
      %b = math.sqrt %a : f32
      mdh.yield %b : f32
    }, (cc, cc))
    inp_view(x = %x[i, j] : tensor<?x4xf32>)
  %0 = mdh.compute (j = 4, i = %n)
    out_view(y = %y[i, j] : tensor<?x4xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : tensor<?x4xf32>)
  %1 = mdh.compute (i = -2 to 6)
    out_view(y = %w[i] origin(-2) : tensor<8xi8>)
    md_hom(id, (cc))
    inp_view(x = %z[i] origin(-2) : tensor<8xi8>)
  return %0, %1 : tensor<?x4xf32>, tensor<8xi8>
}

// A part of it, into an undefined tensor of its size.
// CHECK-LABEL: @undefined
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @undefined(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = mdh.compute (i = 3 to %n step 2)
    out_view(y = %e[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// A part of it, but the rest is the destination's.
// CHECK-LABEL: @part
// CHECK: mdh.compute
func.func @part(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mdh.compute (i = 8 step 2)
    out_view(y = %y[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  return %0 : tensor<8xf32>
}

// Undefined, and all of it, but the input may be larger.
// CHECK-LABEL: @sizes
// CHECK: mdh.compute
func.func @sizes(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = mdh.compute (i = %n)
    out_view(y = %e[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %0 : tensor<?xf32>
}

// Reversed; combined; converted; padded where it is read outside.
// CHECK-LABEL: @not_copies
// CHECK-COUNT-4: mdh.compute
func.func @not_copies(%x: tensor<8xf32>, %z: tensor<8xf16>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf16>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %e16 = tensor.empty() : tensor<8xf16>
  %0 = mdh.compute (i = 8)
    out_view(y = %e[7 - i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %1 = mdh.compute (i = 8)
    out_view(y = %e[i] : tensor<8xf32>)
    md_hom(id, (ps(addf)))
    inp_view(x = %x[i] : tensor<8xf32>)
  %2 = mdh.compute (i = 8)
    out_view(y = %e16[i] : tensor<8xf16>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<8xf32>)
  %3 = mdh.compute (i = 8)
    out_view(y = %e[i] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i - 1] pad(0.0 : f32) : tensor<8xf32>)
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf16>, tensor<8xf32>
}
