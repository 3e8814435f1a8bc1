// What an interpreter of PTX has to know beside numbers of 32 bits.

func.func @product(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %C = tensor.empty() : tensor<64x64xf16>
  %r = mdh.compute (i = 64, j = 64, k = 64)
    out_view(C = %C[i, j] : tensor<64x64xf16>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<64x64xf16>, B = %B[k, j] : tensor<64x64xf16>)
  return %r : tensor<64x64xf16>
}

// Both elements are in one register.
func.func @minima(%x: tensor<2x2xf16>) -> tensor<2xf16> {
  %empty = tensor.empty() : tensor<2xf16>
  %r = mdh.compute (j = 2)
    out_view(y = %empty[j] : tensor<2xf16>)
    md_hom(minimumf, (cc))
    inp_view(x = %x[0, j][1, j] : tensor<2x2xf16>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {j: 1}, register {j: 2}]>)
  return %r : tensor<2xf16>
}

func.func @bytes(%x: tensor<64xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = mdh.compute (i = 64)
    out_view(y = %empty[i] : tensor<64xf32>)
    md_hom((%a: f32) {
      %large = arith.constant 100.0 : f32
      %b = arith.mulf %a, %large : f32
      %c = arith.fptosi %b : f32 to i8
      %d = arith.negf %b : f32
      %e = arith.fptosi %d : f32 to i8
      %f = arith.divsi %c, %e : i8
      %g = arith.sitofp %f : i8 to f32
      %h = arith.sitofp %e : i8 to f32
      %i = arith.addf %g, %h : f32
      mdh.yield %i : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<64xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: 1}, thread {i: 64}]>)
  return %r : tensor<64xf32>
}

// A remainder of indices, which LLVM computes in a byte.
func.func @wrapped(%x: memref<40xi64>, %y: memref<34xi64>) {
  mdh.compute (i = -3 to 30)
    out_view(y = %y[i] origin(-4) : memref<34xi64>)
    md_hom(id, (cc))
    inp_view(x = %x[(-2 * i) mod 3] : memref<40xi64>)
  return
}

// A kernel's argument of two bytes.
func.func @argument(%x: memref<64xf16>, %a: f16, %y: memref<64xf16>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %input = gpu.alloc () : memref<64xf16>
  %output = gpu.alloc () : memref<64xf16>
  gpu.memcpy %input, %x : memref<64xf16>, memref<64xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %b = memref.load %input[%tx] : memref<64xf16>
    %c = arith.mulf %a, %b : f16
    memref.store %c, %output[%tx] : memref<64xf16>
    gpu.terminator
  }
  gpu.memcpy %y, %output : memref<64xf16>, memref<64xf16>
  gpu.dealloc %input : memref<64xf16>
  gpu.dealloc %output : memref<64xf16>
  return
}

// Threads share one number.
func.func @one(%x: tensor<64xf32>, %s: tensor<1xf32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = mdh.compute (i = 64)
    out_view(y = %empty[i] : tensor<64xf32>)
    md_hom(mulf, (cc))
    inp_view(x = %x[i] : tensor<64xf32>, s = %s[0] : tensor<1xf32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: 2}, shared {i: 1}, thread {i: 32}],
             inputs = {s: {stage: {shared.i: shared}}}>)
  return %r : tensor<64xf32>
}

// LLVM makes a jump to one of several places of this,
func.func @switched(%x: tensor<64xi32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = mdh.compute (i = 64)
    out_view(y = %empty[i] : tensor<64xf32>)
    md_hom((%a: i32) {
      %f = arith.sitofp %a : i32 to f32
      %q0 = arith.constant 0 : i32
      %t0 = arith.cmpi eq, %a, %q0 : i32
      %i0 = scf.if %t0 -> f32 {
        %m0 = math.exp %f : f32
        scf.yield %m0 : f32
      } else {
        %q1 = arith.constant 1 : i32
        %t1 = arith.cmpi eq, %a, %q1 : i32
        %i1 = scf.if %t1 -> f32 {
          %m1 = math.sqrt %f : f32
          scf.yield %m1 : f32
        } else {
          %q2 = arith.constant 2 : i32
          %t2 = arith.cmpi eq, %a, %q2 : i32
          %i2 = scf.if %t2 -> f32 {
            %m2 = math.absf %f : f32
            scf.yield %m2 : f32
          } else {
            %q3 = arith.constant 3 : i32
            %t3 = arith.cmpi eq, %a, %q3 : i32
            %i3 = scf.if %t3 -> f32 {
              %m3 = math.floor %f : f32
              scf.yield %m3 : f32
            } else {
              %q4 = arith.constant 4 : i32
              %t4 = arith.cmpi eq, %a, %q4 : i32
              %i4 = scf.if %t4 -> f32 {
                %m4 = math.tanh %f : f32
                scf.yield %m4 : f32
              } else {
                %z = arith.constant 0.0 : f32
                scf.yield %z : f32
              }
              scf.yield %i4 : f32
            }
            scf.yield %i3 : f32
          }
          scf.yield %i2 : f32
        }
        scf.yield %i1 : f32
      }
      mdh.yield %i0 : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<64xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: 2}, thread {i: 32}]>)
  return %r : tensor<64xf32>
}

// and a table of this.
func.func @table(%x: tensor<64xi32>) -> tensor<64xf32> {
  %empty = tensor.empty() : tensor<64xf32>
  %r = mdh.compute (i = 64)
    out_view(y = %empty[i] : tensor<64xf32>)
    md_hom((%a: i32) {
      %f = arith.sitofp %a : i32 to f32
      %q0 = arith.constant 0 : i32
      %t0 = arith.cmpi eq, %a, %q0 : i32
      %i0 = scf.if %t0 -> f32 {
        %m0 = arith.constant 3.5 : f32
        scf.yield %m0 : f32
      } else {
        %q1 = arith.constant 1 : i32
        %t1 = arith.cmpi eq, %a, %q1 : i32
        %i1 = scf.if %t1 -> f32 {
          %m1 = arith.constant 10.5 : f32
          scf.yield %m1 : f32
        } else {
          %q2 = arith.constant 2 : i32
          %t2 = arith.cmpi eq, %a, %q2 : i32
          %i2 = scf.if %t2 -> f32 {
            %m2 = arith.constant 31.5 : f32
            scf.yield %m2 : f32
          } else {
            %q3 = arith.constant 3 : i32
            %t3 = arith.cmpi eq, %a, %q3 : i32
            %i3 = scf.if %t3 -> f32 {
              %m3 = arith.constant 66.5 : f32
              scf.yield %m3 : f32
            } else {
              %q4 = arith.constant 4 : i32
              %t4 = arith.cmpi eq, %a, %q4 : i32
              %i4 = scf.if %t4 -> f32 {
                %m4 = arith.constant 115.5 : f32
                scf.yield %m4 : f32
              } else {
                %z = arith.constant 0.0 : f32
                scf.yield %z : f32
              }
              scf.yield %i4 : f32
            }
            scf.yield %i3 : f32
          }
          scf.yield %i2 : f32
        }
        scf.yield %i1 : f32
      }
      mdh.yield %i0 : f32
    }, (cc))
    inp_view(x = %x[i] : tensor<64xi32>)
    schedule(#mdh.schedule<asm = cuda, layers = [block {i: 2}, thread {i: 32}]>)
  return %r : tensor<64xf32>
}
