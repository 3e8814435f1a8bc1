// Numbers in schedules that nothing can compute with, or that no machine has room for.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-vectorize=asm=cpu

// Sizes are not known, so that code would compute with the point behind a part.
func.func @parts(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'parts': the parts of dimension 'i' cover 9223372036854775807 points or more, expected at most 2305843009213693951, so that indices of 64 bits reach behind them}}
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [main {i: *}, core {i: 4611686018427387904}, L2 {i: 2}]>)
  return
}

// -----
func.func @layouts(%A: memref<?x?xf32>, %y: memref<?xf32>, %n: index) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'layout': input 'A': 'padded(0, 9223372036854775807)' takes 9223372036854775807 elements or more for a tile of one, expected at most 1099511627776}}
  mdh.compute (i = %n, k = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<?x?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *, k: *}],
      inputs = {A: {stage: {L2.i: L2}, layout: {L2.i: padded(0, 9223372036854775807)}}}>)
  return
}

// -----
// Each point of a block is code of its own.
func.func @block(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  // expected-error-re @+1 {{'mdh.compute' op has a schedule with 2305843009213693951 points in registers at once (register.i): expected at most {{[0-9]+}}, one for each byte of the registers}}
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<?xf32>)
    schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2305843009213693951}]>)
  return
}
