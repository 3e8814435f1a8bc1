// Stencils that are iterated. Each form takes ten steps
//
//   next[k] = (old[k - 1] + old[k + 1]) / 2        for 1 <= k < 7
//
// from 0 1 4 2 2 4 1 0, whose ends stay; 1024 times the result is a whole number.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy f4 "np.arange(8) ** 2 % 7"
//
// RUN: mdh run %s --check --entry swapped --in %t.x.npy %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --check --entry one --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --entry sized --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --check --entry fresh --in %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --check --entry nested --in %t.x.npy %t.x.npy 5 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --entry while --in %t.x.npy %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --check --entry apart --in %t.x.npy %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: mdh run %s --check --entry chosen --in %t.x.npy %t.x.npy 10 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a * 1024" | FileCheck %s --check-prefix STEPS
//
// RUN: %python %S/Inputs/npy.py save %t.c.npy f4 "np.arange(8) - 3"
// RUN: mdh run %s --check --entry added --in %t.c.npy %t.x.npy --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix ADDED
// RUN: mdh run %s --check --entry carried --in %t.c.npy %t.x.npy --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix CARRIED
// RUN: mdh run %s --check --entry rotated --in %t.x.npy %t.c.npy 4 --out %t.y.npy
// RUN: %python %S/Inputs/npy.py show %t.y.npy "a" | FileCheck %s --check-prefix ROTATED
//
// RUN: mdh compile %s --emit loops --no-schedules | FileCheck %s --check-prefix LOOPS

// STEPS: 8 float32
// STEPS-NEXT: 0 484 900 1103 1103 900 484 0
// ADDED: 8 float32
// ADDED-NEXT: -30 -19 -6 2 12 24 31 40
// CARRIED: 8 float32
// CARRIED-NEXT: 70 71 74 72 72 74 71 70
// ROTATED: 8 float32
// ROTATED-NEXT: 0 -3 -2 -1 -10 -8 1 0

// Old and new change places: no copy.
// LOOPS-LABEL: func.func @swapped(
// LOOPS-NOT: memref.alloc
// LOOPS: %[[Z:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %arg0, %[[B:.*]] = %arg1)
// LOOPS: scf.yield %[[B]], %[[A]] :
// LOOPS: memref.copy %[[Z]]#0, %arg3
// LOOPS-NEXT: return
func.func @swapped(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l:2 = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %next = mdh.compute (k = 1 to 7)
      out_view(next = %b[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
    scf.yield %next, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %l#0 : tensor<8xf32>
}

// One tensor is read and written: each step reads a copy.
// LOOPS-LABEL: func.func @one(
// LOOPS: %[[OLD:.*]] = memref.alloc() {{.*}}: memref<8xf32>
// LOOPS: scf.for
// LOOPS-NEXT: memref.copy %arg0, %[[OLD]]
// LOOPS-NOT: memref.alloc
// LOOPS: }
// LOOPS: memref.dealloc %[[OLD]]
func.func @one(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %next = mdh.compute (k = 1 to 7)
      out_view(next = %a[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
    scf.yield %next : tensor<8xf32>
  }
  return %l : tensor<8xf32>
}

// The same, of any size.
// LOOPS-LABEL: func.func @sized(
// LOOPS: %[[OLD:.*]] = memref.alloc({{.*}})
// LOOPS: scf.for
// LOOPS-NOT: memref.alloc
// LOOPS: memref.dealloc %[[OLD]]
func.func @sized(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %last = arith.subi %size, %c1 : index
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    %next = mdh.compute (k = 1 to %last)
      out_view(next = %a[k] : tensor<?xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<?xf32>)
    scf.yield %next : tensor<?xf32>
  }
  return %l : tensor<?xf32>
}

// Each step writes a tensor of its own.
// LOOPS-LABEL: func.func @fresh(
// LOOPS: %[[NEW:.*]] = memref.alloc()
// LOOPS: scf.for
// LOOPS-NOT: memref.alloc
// LOOPS: memref.dealloc %[[NEW]]
func.func @fresh(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %e = tensor.empty() : tensor<8xf32>
    %ends = mdh.compute (k = 8)
      out_view(ends = %e[k] : tensor<8xf32>)
      md_hom(id, (cc))
      inp_view(old = %a[k] : tensor<8xf32>)
    %next = mdh.compute (k = 1 to 7)
      out_view(next = %ends[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
    scf.yield %next : tensor<8xf32>
  }
  return %l : tensor<8xf32>
}

// Two steps in each iteration, the second one in a loop of its own.
func.func @nested(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l:2 = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %first = mdh.compute (k = 1 to 7)
      out_view(next = %b[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
    %m:2 = scf.for %u = %c0 to %c1 step %c1 iter_args(%c = %first, %d = %a) -> (tensor<8xf32>, tensor<8xf32>) {
      %next = mdh.compute (k = 1 to 7)
        out_view(next = %d[k] : tensor<8xf32>)
        md_hom((%l: f32, %r: f32) {
          %half = arith.constant 0.5 : f32
          %sum = arith.addf %l, %r : f32
          %mean = arith.mulf %sum, %half : f32
          mdh.yield %mean : f32
        }, (cc))
        inp_view(old = %c[k - 1][k + 1] : tensor<8xf32>)
      scf.yield %next, %c : tensor<8xf32>, tensor<8xf32>
    }
    scf.yield %m#0, %m#1 : tensor<8xf32>, tensor<8xf32>
  }
  return %l#0 : tensor<8xf32>
}

func.func @while(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l:3 = scf.while (%t = %c0, %a = %x, %b = %y) : (index, tensor<8xf32>, tensor<8xf32>) -> (index, tensor<8xf32>, tensor<8xf32>) {
    %more = arith.cmpi slt, %t, %n : index
    scf.condition(%more) %t, %a, %b : index, tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%t: index, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %next = mdh.compute (k = 1 to 7)
      out_view(next = %b[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
    %u = arith.addi %t, %c1 : index
    scf.yield %u, %next, %a : index, tensor<8xf32>, tensor<8xf32>
  }
  return %l#1 : tensor<8xf32>
}

// The old tensor is read again after the new one was written in its place.
func.func @apart(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l:2 = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %next = mdh.compute (k = 1 to 7)
      out_view(next = %a[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32) {
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %l, %r : f32
        %mean = arith.mulf %sum, %half : f32
        mdh.yield %mean : f32
      }, (cc))
      inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
    %kept = mdh.compute (k = 8)
      out_view(kept = %b[k] : tensor<8xf32>)
      md_hom(subf, (cc))
      inp_view(old = %a[k] : tensor<8xf32>, next = %next[k] : tensor<8xf32>)
    scf.yield %next, %kept : tensor<8xf32>, tensor<8xf32>
  }
  return %l#0 : tensor<8xf32>
}

// Every second step writes the other tensor.
func.func @chosen(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %l:2 = scf.for %t = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %parity = arith.remui %t, %c2 : index
    %is_odd = arith.cmpi eq, %parity, %c1 : index
    %m:2 = scf.if %is_odd -> (tensor<8xf32>, tensor<8xf32>) {
      %next = mdh.compute (k = 1 to 7)
        out_view(next = %a[k] : tensor<8xf32>)
        md_hom((%l: f32, %r: f32) {
          %half = arith.constant 0.5 : f32
          %sum = arith.addf %l, %r : f32
          %mean = arith.mulf %sum, %half : f32
          mdh.yield %mean : f32
        }, (cc))
        inp_view(old = %b[k - 1][k + 1] : tensor<8xf32>)
      scf.yield %next, %b : tensor<8xf32>, tensor<8xf32>
    } else {
      %next = mdh.compute (k = 1 to 7)
        out_view(next = %b[k] : tensor<8xf32>)
        md_hom((%l: f32, %r: f32) {
          %half = arith.constant 0.5 : f32
          %sum = arith.addf %l, %r : f32
          %mean = arith.mulf %sum, %half : f32
          mdh.yield %mean : f32
        }, (cc))
        inp_view(old = %a[k - 1][k + 1] : tensor<8xf32>)
      scf.yield %a, %next : tensor<8xf32>, tensor<8xf32>
    }
    scf.yield %m#0, %m#1 : tensor<8xf32>, tensor<8xf32>
  }
  return %l#0 : tensor<8xf32>
}

// Each point reads the element that it writes: in place.
// LOOPS-LABEL: func.func @added(
// LOOPS-NOT: memref.alloc
// LOOPS-NOT: memref.copy
// LOOPS: memref.copy %arg1, %arg2
// LOOPS-NEXT: return
func.func @added(%c: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %l = scf.for %t = %c0 to %c10 step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %next = mdh.compute (k = 8)
      out_view(next = %a[k] : tensor<8xf32>)
      md_hom(addf, (cc))
      inp_view(c = %c[k] : tensor<8xf32>, x = %a[k] : tensor<8xf32>)
    scf.yield %next : tensor<8xf32>
  }
  return %l : tensor<8xf32>
}

// So does a carry.
// LOOPS-LABEL: func.func @carried(
// LOOPS: %[[SUM:.*]] = memref.alloc()
// LOOPS-NEXT: memref.copy %arg1, %[[SUM]]
// LOOPS-NEXT: scf.for
// LOOPS-NOT: memref.alloc
// LOOPS-NOT: memref.copy
// LOOPS: memref.copy %[[SUM]], %arg2
// LOOPS-NEXT: memref.dealloc %[[SUM]]
// LOOPS-NEXT: return
func.func @carried(%c: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %e = tensor.empty() : tensor<8xf32>
  %y = mdh.compute (k = 8)
    out_view(y = %e[k] : tensor<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[k] : tensor<8xf32>)
  %l = scf.for %t = %c0 to %c10 step %c1 iter_args(%a = %y) -> (tensor<8xf32>) {
    %next = mdh.compute (k = 8, j = 8)
      out_view(next = %a[k] : tensor<8xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(c = %c[j] : tensor<8xf32>, x = %x[j] : tensor<8xf32>)
      carry j (before = %a[k] : tensor<8xf32>)
    scf.yield %next : tensor<8xf32>
  }
  return %l : tensor<8xf32>
}

// Three tensors take turns.
// LOOPS-LABEL: func.func @rotated(
// LOOPS: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
// LOOPS: scf.yield %[[B]], %[[C]], %[[A]] :
func.func @rotated(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %l:3 = scf.for %t = %c0 to %n step %c1 iter_args(%old = %x, %now = %y, %room = %zero) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %next = mdh.compute (k = 1 to 7)
      out_view(next = %room[k] : tensor<8xf32>)
      md_hom((%l: f32, %r: f32, %o: f32) {
        %sum = arith.addf %l, %r : f32
        %wave = arith.subf %sum, %o : f32
        mdh.yield %wave : f32
      }, (cc))
      inp_view(now = %now[k - 1][k + 1] : tensor<8xf32>, old = %old[k] : tensor<8xf32>)
    scf.yield %now, %next, %old : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %l#1 : tensor<8xf32>
}
