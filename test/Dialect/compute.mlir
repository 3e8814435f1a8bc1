// mdh.compute: the whole of a computation in one operation.
//
// RUN: mdh-opt %s | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix GENERIC

// CHECK-LABEL: @matvec
// CHECK:      mdh.compute (i = 8, k = 5)
// CHECK-NEXT:   out_view(w = %{{.*}}[i] : tensor<8xf32>)
// CHECK-NEXT:   md_hom(mulf, (cc, pw(addf)))
// CHECK-NEXT:   inp_view(M = %{{.*}}[i, k] : tensor<8x5xf32>, v = %{{.*}}[k] : tensor<5xf32>)
// CHECK-NEXT: return
// GENERIC: "mdh.compute"(%{{.*}}, %{{.*}}, %{{.*}}) <{carry_dims = array<i64>, carry_has_outs = array<i64>, carry_valids = array<i64>, combine = [#mdh.cc, #mdh.pw<addf>], components = array<i64: 0>, dims = ["i", "k"], maps = {{.*}}, names = ["M", "v", "w"], operandSegmentSizes = array<i32: 2, 1, 0, 0, 0, 0, 0>, pads = [unit, unit], static_bounds = array<i64: 0, 8, 1, 1, 0, 5, 1, 1>, static_origins = {{.*}}}> ({
// GENERIC: }) : (tensor<8x5xf32>, tensor<5xf32>, tensor<8xf32>) -> tensor<8xf32>
func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  %w = mdh.compute (i = 8, k = 5)
    out_view(w = %init[i] : tensor<8xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(%M[i, k] : tensor<8x5xf32>, %v[k] : tensor<5xf32>)
  return %w : tensor<8xf32>
}

// An operator of one's own, skipped components, two carries with outputs, an attribute.
// CHECK-LABEL: @all_of_it
// CHECK:      mdh.compute (i = 2 to 8 step 2, j = 3, k = %{{.*}})
// CHECK-NEXT:   out_view(_, w = %{{.*}}[7 - i] origin(-1) : tensor<8xindex>)
// CHECK-NEXT:   md_hom((%{{.*}}: f32, %[[X:.*]]: f32) {
// CHECK:          mdh.index 2 : index
// CHECK:        }, (cc, pw(wins), pw(wins)))
// CHECK-NEXT:   inp_view(M = %{{.*}}[i, k] : tensor<8x?xf32>, v = %{{.*}}[k * 2 - j] origin(%{{.*}}) pad(0.000000e+00 : f32) : tensor<?xf32>)
// CHECK-NEXT:   combine wins commutative associative neutral(0.000000e+00 : f32, -1 : i64) (%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: f32, %{{.*}}: i64) {
// CHECK:        }
// CHECK-NEXT:   carry j (a = %{{.*}}[i] : tensor<8xf32>, b = %{{.*}}[i] : tensor<8xi64>)
// CHECK-NEXT:   carry k (a2 = %{{.*}}[i] origin(1) : tensor<8xf32>, b2 = %{{.*}}[i] : tensor<8xi64>) valid %{{.*}} -> (a3 = %{{.*}}[i] : tensor<8xf32>, b3 = %{{.*}}[i] : tensor<8xi64>) {tag = 1 : i64}
func.func @all_of_it(%M: tensor<8x?xf32>, %v: tensor<?xf32>, %n: index, %c: tensor<8xf32>,
                     %d: tensor<8xi64>, %there: i1, %init: tensor<8xindex>)
    -> (tensor<8xindex>, tensor<8xf32>, tensor<8xi64>) {
  %0:3 = mdh.compute (i = 2 to 8 step 2 width 1, j = 3, k = %n)
    out_view(_, w = %init[7 - i] origin(-1) : tensor<8xindex>)
    md_hom((%a: f32, %x: f32) {
      %k = mdh.index 2 : index
      %k64 = arith.index_cast %k : index to i64
      %p = arith.mulf %a, %x : f32
      mdh.yield %p, %k64 : f32, i64
    }, (cc, pw(wins), pw(wins)))
    inp_view(%M[i, k] : tensor<8x?xf32>,
             %v[k * 2 - j] origin(%n) pad(0.0 : f32) : tensor<?xf32>)
    combine wins commutative associative neutral(0.0 : f32, -1 : i64)
        (%w0: f32, %j0: i64, %w1: f32, %j1: i64) {
      mdh.yield %w0, %j0 : f32, i64
    }
    carry j (a = %c[i] : tensor<8xf32>, b = %d[i] : tensor<8xi64>)
    carry k (a2 = %c[i] origin(1) : tensor<8xf32>, b2 = %d[i] : tensor<8xi64>) valid %there
      -> (a3 = %c[i] : tensor<8xf32>, b3 = %d[i] : tensor<8xi64>)
    {tag = 1}
  return %0#0, %0#1, %0#2 : tensor<8xindex>, tensor<8xf32>, tensor<8xi64>
}
