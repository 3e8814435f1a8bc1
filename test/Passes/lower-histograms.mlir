// RUN: mdh-opt %s --split-input-file --mdh-lower-histograms="asm=cpu grain=100" --canonicalize --cse \
// RUN:   --verify-diagnostics | FileCheck %s
// RUN: not mdh-opt %s --split-input-file --mdh-lower-histograms="asm=cpu cores=none" 2>&1 \
// RUN:   | FileCheck %s --check-prefix OPTION
// OPTION: option 'cores' of mdh-lower-histograms is 'none': expected a positive number

// Each part has bins of its own, in rows that share no cache line; of eight values, one branch tells
// whether all fall into bins.
// CHECK-LABEL: func.func @parts
// CHECK:       %[[BINS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x128xi32>
// CHECK:       scf.forall (%[[P:.*]]) in (2) {
// CHECK:         mdh.compute (bin = 24)
// CHECK-NEXT:      out_view(bins_0 = %[[BINS]][0, bin] origin(%{{.*}}, 0) : memref<2x128xi32>)
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[MIDDLE:.*]] step %c8 {
// CHECK-COUNT-8:   memref.load %{{.*}} : memref<1000xi32>
// CHECK:           scf.if %[[ALL:.*]] {
// CHECK-NOT:         select
// CHECK-COUNT-8:     memref.store %{{.*}}, %[[BINS]][%[[P]], %{{.*}}] : memref<2x128xi32>
// CHECK:           } else {
// CHECK:             arith.select %{{.*}}, %{{.*}}, %c16 : index
// CHECK-COUNT-7:     arith.select
// CHECK:         scf.for %[[I:.*]] = %[[MIDDLE]] to %{{.*}} step %c1 {
// CHECK-NEXT:      %[[X:.*]] = memref.load %{{.*}}[%[[I]]] : memref<1000xi32>
// CHECK-NEXT:      %[[G:.*]] = arith.index_cast %[[X]] : i32 to index
// CHECK-NEXT:      %[[IS:.*]] = arith.cmpi ult, %[[G]], %c16 : index
// CHECK-NEXT:      %[[AT:.*]] = arith.select %[[IS]], %[[G]], %c16 : index
// CHECK-NEXT:      %[[OLD:.*]] = memref.load %[[BINS]][%[[P]], %[[AT]]] : memref<2x128xi32>
// CHECK-NEXT:      %[[NEW:.*]] = arith.addi %[[OLD]], %c1_i32 : i32
// CHECK-NEXT:      memref.store %[[NEW]], %[[BINS]][%[[P]], %[[AT]]] : memref<2x128xi32>
// CHECK:       } {mapping = [{{.*}}], mdh.level = "core.i"}
// CHECK:       mdh.compute (b = 16, part = 2)
// CHECK-NEXT:    out_view(h = %{{.*}}[b] : memref<16xi32>)
// CHECK-NEXT:    md_hom(id, (cc, pw(addi)))
// CHECK-NEXT:    inp_view(bins_0 = %[[BINS]][part, b] : memref<2x128xi32>)
// CHECK-NEXT:  memref.dealloc %[[BINS]]
func.func @parts(%x: memref<1000xi32>, %h: memref<16xi32>) {
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

// Many values for each bin: neighbours take rows of their own, which are combined as the parts are.
// CHECK-LABEL: func.func @copies
// CHECK:       %[[BINS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x128xf32>
// CHECK:       scf.forall (%[[P:.*]]) in
// CHECK:         %[[ROW:.*]] = arith.muli %[[P]], %c4 : index
// CHECK:         mdh.compute (copy = 4, bin = 24)
// CHECK-NEXT:      out_view(bins_0 = %[[BINS]][copy, bin] origin(%{{.*}}, 0) : memref<8x128xf32>)
// CHECK:         scf.if
// CHECK:           memref.store %{{.*}}, %[[BINS]][%[[ROW]],
// CHECK:           %[[ROW1:.*]] = arith.addi %[[ROW]], %c1 : index
// CHECK:           memref.store %{{.*}}, %[[BINS]][%[[ROW1]],
// CHECK:           memref.store
// CHECK:           %[[ROW3:.*]] = arith.addi %[[ROW]], %c3 : index
// CHECK:           memref.store %{{.*}}, %[[BINS]][%[[ROW3]],
// CHECK:           memref.store %{{.*}}, %[[BINS]][%[[ROW]],
// CHECK:       mdh.compute (b = 16, part = 8)
func.func @copies(%x: memref<20000xi32>, %w: memref<20000xf32>, %h: memref<16xf32>) {
  mdh.compute (b = 16, i = 20000)
    out_view(h = %h[b] : memref<16xf32>)
    md_hom((%e: i32, %w_i: f32) {
      %zero = arith.constant 0.0 : f32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %weight = arith.select %here, %w_i, %zero : f32
      mdh.yield %weight : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i] : memref<20000xi32>, w = %w[i] : memref<20000xf32>)
  return
}

// -----

// More bins than values: one part, whatever the sizes are.
// CHECK-LABEL: func.func @few
// CHECK:       memref.alloc() {alignment = 64 : i64} : memref<1x2008xi32>
// CHECK-NOT:   scf.forall
// CHECK:       mdh.compute (b = 2000)
func.func @few(%x: memref<1000xi32>, %h: memref<2000xi32>) {
  mdh.compute (b = 2000, i = 1000)
    out_view(h = %h[b] : memref<2000xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

// The number of parts is known when the sizes are.
// CHECK-LABEL: func.func @dynamic
// CHECK:       %[[LEAST:.*]] = arith.maxsi %{{.*}}, %c100 : index
// CHECK:       %[[WANTED:.*]] = arith.divsi %{{.*}}, %[[LEAST]] : index
// CHECK:       scf.forall
// CHECK:       mdh.compute (b = %{{.*}}, part = %{{.*}})
func.func @dynamic(%x: memref<?xi32>, %h: memref<?xi32>, %n: index, %bins: index) {
  mdh.compute (b = %bins, i = %n)
    out_view(h = %h[b] : memref<?xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<?xi32>)
  return
}

// -----

// What a branch computes is computed for values that count only, and code of other bins not at
// all; a carry is applied to the sum of the parts.
// CHECK-LABEL: func.func @branch
// CHECK:       scf.for
// CHECK-NOT:     math.sin
// CHECK:         scf.if
// CHECK-NEXT:      math.exp
// CHECK:       mdh.compute (b = 16, part = 2)
// CHECK:         carry part (before = %{{.*}}[b] : memref<16xf32>)
func.func @branch(%x: memref<1000xi32>, %w: memref<1000xf32>, %by_bin: memref<16xf32>,
                  %before: memref<16xf32>, %h: memref<16xf32>) {
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xf32>)
    md_hom((%e: i32, %a: f32, %unused: f32) {
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %sine = math.sin %unused : f32
      %here = arith.cmpi eq, %b, %bin : index
      %value = scf.if %here -> (f32) {
        %exp = math.exp %a : f32
        scf.yield %exp : f32
      } else {
        %zero = arith.constant -0.0 : f32
        scf.yield %zero : f32
      }
      mdh.yield %value : f32
    }, (cc, pw(addf)))
    inp_view(x = %x[i] : memref<1000xi32>, w = %w[i] : memref<1000xf32>,
             by_bin = %by_bin[b] : memref<16xf32>)
    carry i (before = %before[b] : memref<16xf32>)
  return
}

// -----

// Many histograms: cores share these, and each is finished before the next.
// CHECK-LABEL: func.func @rows
// CHECK:       memref.alloc() {alignment = 64 : i64} : memref<2x128xi32>
// CHECK:       scf.forall
// CHECK:         scf.for %[[R:.*]] =
// CHECK:           mdh.compute (bin = 9)
// CHECK:           scf.for
// CHECK:           mdh.compute (b = 8)
// CHECK-NEXT:        out_view(h = %{{.*}}[0, b] origin(%{{.*}}, 0) : memref<100x8xi32>)
// CHECK:       } {mapping = [{{.*}}], mdh.level = "core.r"}
func.func @rows(%x: memref<100x50xi32>, %h: memref<100x8xi32>) {
  mdh.compute (r = 100, b = 8, i = 50)
    out_view(h = %h[r, b] : memref<100x8xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 1 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, cc, pw(addi)))
    inp_view(x = %x[r, i] : memref<100x50xi32>)
  return
}

// -----

// No histogram, and nothing to say of it.
// CHECK-LABEL: func.func @sum
// CHECK-NEXT:  mdh.compute
func.func @sum(%x: memref<16x1000xi32>, %h: memref<16xi32>) {
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom(id, (cc, pw(addi)))
    inp_view(x = %x[b, i] : memref<16x1000xi32>)
  return
}

// -----

// A schedule goes by the points as they are.
func.func @scheduled(%x: memref<1000xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{is not lowered as a histogram: it has a schedule, which goes by all of its points}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
    schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, register {b: 16, i: 8}]>)
  return
}

// -----

func.func @not_neutral(%x: memref<1000xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{for other bins component 0 is not the neutral element of its operator, 0}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %two, %one : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

func.func @no_neutral(%x: memref<1000xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{no neutral element of its operator was given}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(plus)))
    inp_view(x = %x[i] : memref<1000xi32>)
    combine plus commutative associative (%a: i32, %b: i32) {
      %sum = arith.addi %a, %b : i32
      mdh.yield %sum : i32
    }
  return
}

// -----

func.func @moving(%x: memref<16x1000xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{the bin of a value depends on 'b'}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[b, i] : memref<16x1000xi32>)
  return
}

// -----

func.func @weight_of_bin(%x: memref<1000xi32>, %w: memref<16xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{what a value adds depends on 'b'}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32, %a: i32) {
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %a, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>, w = %w[b] : memref<16xi32>)
  return
}

// -----

func.func @half(%x: memref<1000xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{whether a value counts depends on 'b'}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %eight = arith.constant 8 : index
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %lower = arith.cmpi slt, %b, %eight : index
      %both = arith.andi %here, %lower : i1
      %count = arith.select %both, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

func.func @steps(%x: memref<1000xi32>, %h: memref<16xi32>) {
  // expected-remark @below {{its bins 'b' have a step}}
  mdh.compute (b = 0 to 16 step 2, i = 1000)
    out_view(h = %h[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

func.func @running(%x: memref<9x1000xi32>, %h: memref<9x16xi32>) {
  // expected-remark @below {{dimension 'j' is a prefix-sum}}
  mdh.compute (b = 16, j = 9, i = 1000)
    out_view(h = %h[j, b] : memref<9x16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, ps(addi), pw(addi)))
    inp_view(x = %x[j, i] : memref<9x1000xi32>)
  return
}

// -----

func.func @narrow(%x: memref<1000xi8>, %h: memref<300xi32>) {
  // expected-remark @below {{its bins are numbers of 8 bits, which may not hold all indices of 'b'}}
  mdh.compute (b = 300, i = 1000)
    out_view(h = %h[b] : memref<300xi32>)
    md_hom((%e: i8) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %b = mdh.index 0 : index
      %b8 = arith.index_cast %b : index to i8
      %here = arith.cmpi eq, %b8, %e : i8
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, pw(addi)))
    inp_view(x = %x[i] : memref<1000xi8>)
  return
}

// -----

func.func @two_conditions(%x: memref<1000xi32>, %h: memref<16xi32>, %g: memref<16xi32>) {
  // expected-remark @below {{the components of its tuple go by different conditions}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>, g = %g[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %below = arith.cmpi slt, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      %counted = arith.select %below, %one, %zero : i32
      mdh.yield %count, %counted : i32, i32
    }, (cc, pw(addi, addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

func.func @two_forms(%x: memref<1000xi32>, %h: memref<16xi32>, %g: memref<16xi32>) {
  // expected-remark @below {{a component of its tuple has no such form}}
  mdh.compute (b = 16, i = 1000)
    out_view(h = %h[b] : memref<16xi32>, g = %g[b] : memref<16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 0 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count, %e : i32, i32
    }, (cc, pw(addi, addi)))
    inp_view(x = %x[i] : memref<1000xi32>)
  return
}

// -----

func.func @not_linear(%x: memref<4x1000xi32>, %h: memref<2x2x16xi32>) {
  // expected-remark @below {{the index functions of its outputs are not linear, or several of one buffer}}
  mdh.compute (c = 4, b = 16, i = 1000)
    out_view(h = %h[c floordiv 2, c mod 2, b] : memref<2x2x16xi32>)
    md_hom((%e: i32) {
      %one = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %bin = arith.index_cast %e : i32 to index
      %b = mdh.index 1 : index
      %here = arith.cmpi eq, %b, %bin : index
      %count = arith.select %here, %one, %zero : i32
      mdh.yield %count : i32
    }, (cc, cc, pw(addi)))
    inp_view(x = %x[c, i] : memref<4x1000xi32>)
  return
}

// Refuses nothing: what is no histogram stays a computation.
