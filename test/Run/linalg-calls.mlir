// A function that stays one of its own and is given one memref twice does what its loops say.
//
// RUN: mdh run %s --entry f --random 1 2> %t.said | grep out > %t.raised
// RUN: mdh run %s --entry f --random 1 --no-raise | grep out > %t.plain
// RUN: diff %t.raised %t.plain
// RUN: FileCheck %s --input-file %t.said

// CHECK: warning: 'linalg.generic' op stays as it is: a destination may share memory with operand 0
func.func private @g(%a: memref<48x48xf32>, %b: memref<48x48xf32>) attributes {no_inline} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : memref<48x48xf32>) outs(%b : memref<48x48xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %x : f32
    linalg.yield %z : f32
  }
  return
}

func.func @f(%m: memref<48x48xf32>) {
  func.call @g(%m, %m) : (memref<48x48xf32>, memref<48x48xf32>) -> ()
  return
}
