// What nothing has lowered is named, with its place: upstream's conversions leave what they do not know.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-check-lowered | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-llvm
// RUN: mdh-opt %examples/argmax.mlir --mdh-lower | mdh-opt --mdh-check-lowered

// Silent: other dialects' operations are for others to refuse.
// CHECK-LABEL: func.func @others
// CHECK: memref.load
func.func @others(%x: memref<8xf32>, %i: index) -> f32 {
  %v = memref.load %x[%i] : memref<8xf32>
  return %v : f32
}

// -----

func.func @places(%i: index, %j: index) -> index {
  // expected-error @+1 {{'mdh.layout.apply' op is left at the end: nothing has lowered it; expected the passes before mdh-check-lowered to have left no operation of the dialect}}
  %p = mdh.layout.apply #mdh.layout<Col([4,6])>[%i, %j]
  return %p : index
}

// -----

// All are named, but not what stands in them.
func.func @maps(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op is left at the end}}
  mdh.compute (i = 8)
      out_view(y = %y[i] : memref<8xf32>)
      md_hom((%a: f32) {
        %b = arith.addf %a, %a : f32
        mdh.yield %b : f32
      }, (cc))
      inp_view(x = %x[i] : memref<8xf32>)
  // expected-error @+1 {{'mdh.compute' op is left at the end}}
  mdh.compute (i = 8)
      out_view(y = %y[i] : memref<8xf32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : memref<8xf32>)
  return
}

// -----

// expected-error @+1 {{'mdh.combine' op is left at the end}}
mdh.combine @longest(%a: f32, %b: f32) {
  %c = arith.maximumf %a, %b : f32
  mdh.yield %c : f32
}
