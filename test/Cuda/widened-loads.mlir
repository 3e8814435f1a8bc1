// Partial results of 6 bytes in shared memory, at a multiple of 16: LLVM loads 8 bytes of them and uses 6. On a device that
// is right, as shared memory goes on; so it is on the interpreter. What is stored is what the array has.
//
// RUN: mdh compile %s --device cuda --emit ptx 2>/dev/null | FileCheck %s --check-prefix PTX
// PTX: .shared .align 16 .b8 [[ROW:__wg_.*]][6];
// PTX: ld.shared.v2.b32 {{.*}}, {{\[}}[[ROW]]];
//
// RUN: %interpreted mdh run %s --device cuda --size j=15 --random 0 --check=all 2>&1 | FileCheck %s
// CHECK: check  passed: 192 of 192 elements compared

func.func @f(%x: memref<13x14xf64>, %n: index, %y0: memref<?x?xi64>, %y1: memref<?x14xi16>, %y2: memref<?x?xi64>) {
  mdh.compute (i = 3, j = %n step 5 width 3)
    out_view(y0 = %y0[i, j] : memref<?x?xi64>, y1 = %y1[i, j] : memref<?x14xi16>, y2 = %y2[i, 3 * j] : memref<?x?xi64>)
    md_hom((%a: f64) {
      %c = arith.constant 100.0 : f64
      %b = arith.mulf %a, %c : f64
      %v = arith.fptosi %b : f64 to i64
      %w = arith.fptosi %b : f64 to i16
      mdh.yield %v, %w, %v : i64, i16, i64
    }, (ps(maxui, muli, muli), ps(maxui, muli, muli)))
    inp_view(x = %x[2 * i, j] : memref<13x14xf64>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, shared {i: 4}, register {j: 3}],
      decompose = {order: [block.j, block.i, shared.i, register.j]}, outputs = {y1: {combine: {register.j: shared}}}>)
  return
}
