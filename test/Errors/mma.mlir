// Schedules that ask for products of matrices for which there is no instruction.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics

// Other parts, other threads, other types.
func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  // expected-error @+3 {{'mdh.compute' op has a schedule that breaks 'instruction': 'mma' has the parts {i: 2, j: 4, k: 16}, expected 2 of each of two dimensions that are kept and 16 of one that is combined}}
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'instruction': 'thread' has 8 of 'i' in dimension 'x', 4 of 'j' in dimension 'y', expected 4 in 'x' and 8 in 'y', of the two dimensions that 'mma' keeps}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'instruction': sums of f32 out of f32, f32, for which 'mma' has no instruction, expected sums of f32 (addf) out of two of f16 or two of bf16}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf32>, B = %B[k, j] : memref<64x64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 4}, register {k: *}, mma {i: 2, j: 4, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, mma.i, mma.j, mma.k]}>)
  return
}

// -----
// Another level inside, and a factor that both dimensions move.
func.func @f(%A: memref<64x64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  // expected-error @+2 {{'mdh.compute' op has a schedule that breaks 'instruction': level 'register.k' is inside of 'mma', expected the parts of 'mma' inside of all others}}
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'instruction': 'mma' keeps 'i' and 'j', expected one input that is read along the first of them only, and another along the second only}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, j, k] : memref<64x64x64xf16>, B = %B[k, j] : memref<64x64xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 4}, register {k: 4}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, mma.i, mma.j, mma.k, register.k], assign: {thread.i: thread.y, thread.j: thread.x}}>)
  return
}

// -----
// A copy between the parts of one instruction: at 'mma.i' it is outside of all of them.
func.func @f(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that stages 'A' at 'mma.k', inside of 'mma.i', whose parts one instruction of 'mma' computes: expected it at 'mma.i', or outside of that}}
  mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf16>, B = %B[k, j] : memref<64x64xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 4}, register {k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {mma.k: shared}}, B: {stage: {mma.i: shared}}}>)
  return
}

// -----
// Threads without blocks are those of one: they copy cooperatively, for all of them, what has gaps.
func.func @f(%A: memref<3x16xf16>, %B: memref<16x2xf16>, %C: memref<3x2xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that stages 'A' at 'mma.i': expected accesses that differ by constants only, linear in dimensions whose step is known and whose points do not come in groups with gaps}}
  mdh.compute (i = 3 step 3 width 2, j = 2, k = 16)
    out_view(C = %C[i, j] : memref<3x2xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<3x16xf16>, B = %B[k, j] : memref<16x2xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 4}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {mma.i: shared}}}>)
  return
}

// -----
// A copy that each thread makes for itself: one without columns has none of the rows that others need.
func.func @f(%A: memref<64x64xf16>, %B: memref<64x65xf16>, %C: memref<64x65xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that stages 'A' at 'register.k': each thread has a copy of its own in 'device', and those without points have none, but one instruction of 'mma' reads the copies of all threads of a warp: expected it in memory that threads copy to cooperatively, or outside of the loops over threads}}
  mdh.compute (i = 64, j = 65, k = 64)
    out_view(C = %C[i, j] : memref<64x65xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf16>, B = %B[k, j] : memref<64x65xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 4}, register {k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}},
      inputs = {A: {stage: {register.k: shared}, scalar: device}}>)
  return
}

// -----
// Columns that lie in groups with gaps: those of other threads are at unequal distances.
func.func @f(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  // expected-error @+1 {{'mdh.compute' op has a schedule that breaks 'instruction': the columns of 'mma' are points of 'j', which lie in groups with gaps: expected points at equal distances}}
  mdh.compute (i = 64 step 3 width 2, j = 64 step 3 width 2, k = 64)
    out_view(C = %C[i, j] : memref<64x64xf32>)
    md_hom((%a: f16, %b: f16) {
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %0 = arith.mulf %x, %y : f32
      mdh.yield %0 : f32
    }, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : memref<64x64xf16>, B = %B[k, j] : memref<64x64xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: *, j: *}, thread {i: 8, j: 4}, register {k: *}, mma {i: 2, j: 2, k: 16}],
      decompose = {order: [block.i, block.j, thread.i, thread.j, register.k, mma.i, mma.j, mma.k],
        assign: {thread.i: thread.y, thread.j: thread.x}}>)
  return
}
