// Operators that nothing names go with all that is in them, whatever lies where they were: memory that is freed is
// overwritten here.
//
// RUN: env GLIBC_TUNABLES=glibc.malloc.perturb=165:glibc.malloc.tcache_count=0 mdh-opt %s --mdh-to-linalg | FileCheck %s

// CHECK-NOT: mdh.combine
// CHECK: func.func @f
mdh.combine @plus associative commutative (%a: f32, %b: f32) {
  %c = arith.addf %a, %b : f32
  mdh.yield %c : f32
}
mdh.combine @twice associative (%a: f32, %b: f32) {
  %c = arith.addf %a, %b : f32
  %d = arith.subf %c, %b : f32
  mdh.yield %d : f32
}
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
