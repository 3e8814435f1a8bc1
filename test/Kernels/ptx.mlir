// Kernels in PTX: tiles are copied and read four elements at a time, results stay in registers.
//
// RUN: mdh compile %s --entry product --emit ptx | FileCheck %s --check-prefixes CHECK,DEFAULT
// RUN: mdh compile %s --entry product --emit ptx --chip sm_80 | FileCheck %s --check-prefixes CHECK,OTHER
// RUN: mdh compile %s --entry product --emit ptx | FileCheck %s --check-prefix ROUNDS
// RUN: mdh compile %s --entry waves --emit ptx | FileCheck %s --check-prefix WAVES
// RUN: mdh compile %s --entry angles --emit ptx | FileCheck %s --check-prefix ANGLES
// DEFAULT:         .target sm_90{{$}}
// OTHER:           .target sm_80{{$}}
// CHECK:           .visible .entry product_0(
// CHECK-NOT:       .local
// CHECK-COUNT-3:   ld.global.v4.b32
// CHECK-NOT:       ld.global
// CHECK:           bar.sync
// CHECK-COUNT-12:  ld.shared.v4.b32
// CHECK-NOT:       ld.shared
// CHECK:           bar.sync
// CHECK-COUNT-8:   st.global.v4.b32
// CHECK-NOT:       st.global
//
// ROUNDS-COUNT-128: fma.rn.f32
// ROUNDS-NOT:       fma.rn.f32
func.func @product(%A: memref<1024x1024xf32>, %B: memref<1024x1024xf32>, %C: memref<1024x1024xf32>) {
  mdh.compute (i = 1024, j = 1024, k = 1024)
    out_view(C = %C[i, j] : memref<1024x1024xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<1024x1024xf32>, B = %B[k, j] : memref<1024x1024xf32>)
  return
}

// Two kernels of one module; functions of math have code of their own.
//
// WAVES-NOT: .extern
// WAVES:     .visible .entry waves_0(
// WAVES-NOT: .extern
// WAVES:     .visible .entry waves_1(
// WAVES-NOT: .extern
func.func @waves(%x: memref<4096xf32>, %y: memref<4096xf32>, %s: memref<f32>) {
  mdh.compute (i = 4096)
    out_view(y = %y[i] : memref<4096xf32>)
    md_hom((%a: f32) {
      %0 = math.tanh %a : f32
      %1 = math.exp %0 : f32
      %2 = math.sqrt %1 : f32
      mdh.yield %2 : f32
    }, (cc))
    inp_view(x = %x[i] : memref<4096xf32>)
  mdh.compute (i = 4096)
    out_view(s = %s[] : memref<f32>)
    md_hom(id, (pw(maximumf)))
    inp_view(y = %y[i] : memref<4096xf32>)
  return
}

// Angles of any size, and powers of the widest floats.
//
// ANGLES-NOT: .extern
// ANGLES:     .visible .entry angles_0(
// ANGLES:     mul.hi.u64
// ANGLES-NOT: .extern
func.func @angles(%x: memref<4096xf64>, %y: memref<4096xf64>) {
  mdh.compute (i = 4096)
    out_view(y = %y[i] : memref<4096xf64>)
    md_hom((%a: f64) {
      %0 = math.tan %a : f64
      %1 = math.powf %0, %a : f64
      %2 = math.atan2 %1, %a : f64
      %3 = math.rsqrt %2 : f64
      mdh.yield %3 : f64
    }, (cc))
    inp_view(x = %x[i] : memref<4096xf64>)
  return
}
