// RUN: mdh-opt %s --split-input-file --mdh-separate-scans --verify-diagnostics | FileCheck %s

// Points of a strided domain keep their places; a tuple has memory for each of its components.
// CHECK-LABEL: func.func @strided
// CHECK-DAG:   %[[LARGEST:.*]] = memref.alloc() {alignment = 64 : i64} : memref<12x30xf32>
// CHECK-DAG:   %[[SUM:.*]] = memref.alloc() {alignment = 64 : i64} : memref<12x30xf64>
// CHECK:       mdh.compute (k = 100, i = 3 to 15 step 2, b = 30)
// CHECK-NEXT:    out_view(sum_0 = %[[LARGEST]][i, b] origin(3, 0) : memref<12x30xf32>,
// CHECK-SAME:             sum_1 = %[[SUM]][i, b] origin(3, 0) : memref<12x30xf64>)
// CHECK:         }, (pw(both), cc, cc))
// CHECK-NEXT:    inp_view(x = %{{.*}}[k, i, b] : memref<100x15x30xf32>)
// CHECK-NEXT:    combine both commutative associative
// CHECK:       mdh.compute (i = 3 to 15 step 2, b = 30)
// CHECK-NEXT:    out_view(m = %{{.*}}[b, i] : memref<30x15xf32>, s = %{{.*}}[b, i] : memref<30x15xf64>)
// CHECK-NEXT:    md_hom(id, (ps(both), cc))
// CHECK-NEXT:    inp_view(sum_0 = %[[LARGEST]][i, b] origin(3, 0) : memref<12x30xf32>,
// CHECK-SAME:             sum_1 = %[[SUM]][i, b] origin(3, 0) : memref<12x30xf64>)
// CHECK-DAG:   memref.dealloc %[[LARGEST]]
// CHECK-DAG:   memref.dealloc %[[SUM]]
func.func @strided(%x: memref<100x15x30xf32>, %m: memref<30x15xf32>, %s: memref<30x15xf64>) {
  mdh.compute (k = 100, i = 3 to 15 step 2, b = 30)
    out_view(m = %m[b, i] : memref<30x15xf32>, s = %s[b, i] : memref<30x15xf64>)
    md_hom((%e: f32) {
      %wide = arith.extf %e : f32 to f64
      mdh.yield %e, %wide : f32, f64
    }, (pw(both), ps(both), cc))
    inp_view(x = %x[k, i, b] : memref<100x15x30xf32>)
    combine both commutative associative neutral(0xFF800000 : f32, 0.0 : f64)
        (%a: f32, %b: f64, %c: f32, %d: f64) {
      %larger = arith.maximumf %a, %c : f32
      %sum = arith.addf %b, %d : f64
      mdh.yield %larger, %sum : f32, f64
    }
  return
}

// -----

// How many points a sum has is known at run time only.
// CHECK-LABEL: func.func @dynamic
// CHECK:       memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CHECK:       md_hom(id, (cc, pw(addf)))
// CHECK:       md_hom(id, (ps(addf)))
func.func @dynamic(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index, %m: index) {
  mdh.compute (i = %n, j = %m)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (ps(addf), pw(addf)))
    inp_view(x = %x[i, j] : memref<?x?xf32>)
  return
}

// -----

// A schedule says what is done; few points are not worth memory in between.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:   memref.alloc
// CHECK:       md_hom(id, (ps(addf), pw(addf)))
// CHECK:       md_hom(id, (ps(addf), pw(addf)))
func.func @stay(%x: memref<64x100xf32>, %z: memref<64x4xf32>, %y: memref<64xf32>) {
  mdh.compute (i = 64, j = 100)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (ps(addf), pw(addf)))
    inp_view(x = %x[i, j] : memref<64x100xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}],
      decompose = {order: [L1.i, L1.j]}>)
  // expected-remark @+1 {{sums 4 points where it takes prefix-sums: expected more points, or a commutative operator that has a neutral element}}
  mdh.compute (i = 64, j = 4)
    out_view(y = %y[i] : memref<64xf32>)
    md_hom(id, (ps(addf), pw(addf)))
    inp_view(z = %z[i, j] : memref<64x4xf32>)
  return
}

// Refuses nothing: sums inside of prefix-sums are right.
