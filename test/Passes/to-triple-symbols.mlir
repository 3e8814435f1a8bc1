// Which mdh.combine a computation printed as a triple names.
//
// RUN: mdh-opt %s --mdh-to-triple | FileCheck %s

// A name that is taken is numbered.
// CHECK:       mdh.combine private @taken_1 associative
// CHECK-LABEL: @numbered
// CHECK:       pw(@taken_1)
func.func @numbered(%x: memref<8xf32>, %y: memref<f32>) {
  mdh.compute (i = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(taken)))
    inp_view(x = %x[i] : memref<8xf32>)
    combine taken associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}
func.func private @taken()

// One that says the same is used again, whatever its visibility.
// CHECK-LABEL: @again
// CHECK:       pw(@first)
// CHECK:       pw(@first)
// CHECK:       mdh.combine nested @first
// CHECK-NOT:   mdh.combine
// CHECK-LABEL: @other_laws
func.func @again(%x: memref<8xf32>, %y: memref<f32>) {
  mdh.compute (i = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(first)))
    inp_view(x = %x[i] : memref<8xf32>)
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  mdh.compute (i = 8)
    out_view(y = %y[] : memref<f32>)
    md_hom(id, (pw(first)))
    inp_view(x = %x[i] : memref<8xf32>)
    combine first associative (%a: f32, %b: f32) {
      mdh.yield %a : f32
    }
  return
}
mdh.combine nested @first associative (%a: f32, %b: f32) {
  mdh.yield %a : f32
}

// Next to the function, in the nearest symbol table.
module @other_laws {
  // CHECK:      mdh.combine private @first_1 associative neutral(
  // CHECK-NEXT:   mdh.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: func.func @f
  func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
    mdh.compute (i = 8)
      out_view(y = %y[] : memref<f32>)
      md_hom(id, (pw(first)))
      inp_view(x = %x[i] : memref<8xf32>)
      combine first associative neutral(0.0 : f32) (%a: f32, %b: f32) {
        mdh.yield %a : f32
      }
    return
  }
}
