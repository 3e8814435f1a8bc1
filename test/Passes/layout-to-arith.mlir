// RUN: mdh-opt %s --split-input-file --verify-diagnostics --mdh-layout-to-arith | FileCheck %s
// RUN: mdh-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(mdh-layout-to-arith{affine=false})" \
// RUN:   | FileCheck %s --check-prefix ARITH --implicit-check-not affine
// RUN: sed /expected-error/d %s | mdh-opt --split-input-file --canonicalize | FileCheck %s --check-prefix FOLD

// A table is a global, once.
// CHECK: memref.global "private" constant @mdh_table_0 : memref<4xindex> = dense<[2, 0, 3, 1]>
// CHECK-NOT: memref.global "private" constant @mdh_table_1

// CHECK-LABEL: func.func @affine(
// CHECK-NOT:   arith
// CHECK:       affine.apply
// ARITH-LABEL: func.func @affine(
// ARITH:       arith.divsi
// ARITH:       arith.remsi
func.func @affine(%i: index, %j: index) -> index {
  %p = mdh.layout.apply #mdh.layout<Bricks([64,64],[8,8])>[%i, %j]
  return %p : index
}

// CHECK-LABEL: func.func @bits(
// CHECK:       arith.xori
// CHECK-NOT:   arith.div
func.func @bits(%i: index, %j: index) -> index {
  %p = mdh.layout.apply #mdh.layout<GenP([32,32],xor)>[%i, %j]
  return %p : index
}

// CHECK-LABEL: func.func @table(
// CHECK:       %[[TABLE:.*]] = memref.get_global @mdh_table_0
// CHECK:       memref.load %[[TABLE]]
func.func @table(%i: index) -> (index, index) {
  %p = mdh.layout.apply #mdh.layout<GenP([4],table([2,0,3,1]))>[%i]
  %q = mdh.layout.apply #mdh.layout<GenP([4],table([2,0,3,1]))>[%p]
  return %p, %q : index, index
}

// Known sizes and components count: the first row of columns of 8 elements.
// CHECK-LABEL: func.func @known(
// CHECK-SAME:    %[[J:[a-z0-9]+]]: index
// CHECK:       affine.apply #{{.*}}(%[[J]])
func.func @known(%j: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %p = mdh.layout.apply #mdh.layout<Col([m,16])>[%c0, %j] with(m = %c8)
  return %p : index
}

// There and back, of sizes that are the same values, and of numbers.
// FOLD-LABEL: func.func @back(
// FOLD-SAME:    %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[P:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// FOLD-NEXT:  %[[C11:.*]] = arith.constant 11 : index
// FOLD-NEXT:  return %[[P]], %[[I]], %[[J]], %[[C11]] :
func.func @back(%i: index, %j: index, %p: index, %n: index) -> (index, index, index, index) {
  %k:2 = mdh.layout.inv #mdh.layout<Col([n,n]) where n = 1..1000>[%p] with(n = %n) : index, index
  %q = mdh.layout.apply #mdh.layout<Col([n,n]) where n = 1..1000>[%k#0, %k#1] with(n = %n)
  %r = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%i, %j]
  %l:2 = mdh.layout.inv #mdh.layout<GenP([8,8],morton)>[%r] : index, index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %s = mdh.layout.apply #mdh.layout<Col([4,6])>[%c3, %c2]
  return %q, %l#0, %l#1, %s : index, index, index, index
}

// Not of another layout, nor of components in another order; what lies outside is left.
// FOLD-LABEL: func.func @other(
// FOLD:       mdh.layout.inv
// FOLD:       mdh.layout.apply
// FOLD:       mdh.layout.apply
// FOLD:       mdh.layout.apply
func.func @other(%p: index) -> (index, index, index) {
  %k:2 = mdh.layout.inv #mdh.layout<GenP([8,8],morton)>[%p] : index, index
  %q = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%k#0, %k#1]
  %r = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%k#1, %k#0]
  %c9 = arith.constant 9 : index
  %s = mdh.layout.apply #mdh.layout<GenP([8,8],morton)>[%c9, %c9]
  return %q, %r, %s : index, index, index
}

// Lanes of a row that is one in memory are loaded and stored at once.
// CHECK-LABEL: func.func @run(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: memref<64xf32>
// CHECK-NOT:   mdh.layout
// CHECK:       %[[V:.*]] = vector.load %[[M]][%{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK-NOT:   memref.load
// CHECK:       vector.store %[[V]], %[[M]][%{{.*}}] : memref<64xf32>, vector<8xf32>
// CHECK-NOT:   memref.store
// CHECK:       return
func.func @run(%m: memref<64xf32>, %i: index, %k: index) {
  %c0 = arith.constant 0 : index
  %x = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<Row([8,8])>>
  %v = vector.load %x[%i, %c0] : memref<8x8xf32, #mdh.layout<Row([8,8])>>, vector<8xf32>
  vector.store %v, %x[%k, %c0] : memref<8x8xf32, #mdh.layout<Row([8,8])>>, vector<8xf32>
  return
}

// A swizzle of blocks of four has them next to each other, from where a block starts.
// CHECK-LABEL: func.func @blocks(
// CHECK-NOT:   mdh.layout
// CHECK:       vector.load %{{.*}} : memref<2x64xf32>, vector<4xf32>
// CHECK-COUNT-4: memref.load %{{.*}} : memref<2x64xf32>
// CHECK:       vector.from_elements %{{.*}} : vector<4xf32>
// CHECK:       return
!columns = memref<2x8x8xf32, #mdh.layout<OrderBy(RegP([8,2,4],[2,1,3])).GroupBy([8,8])>>
func.func @blocks(%m: memref<2x64xf32>, %t: index, %i: index, %j: index) -> (vector<4xf32>, vector<4xf32>) {
  %c4 = arith.constant 4 : index
  %x = mdh.layout.view %m : memref<2x64xf32> to !columns
  %v = vector.load %x[%t, %i, %c4] : !columns, vector<4xf32>
  %w = vector.load %x[%t, %i, %j] : !columns, vector<4xf32>
  return %v, %w : vector<4xf32>, vector<4xf32>
}

// What is strided is accessed lane by lane; what a mask, or the view's end, leaves out is not.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT:   mdh.layout
// CHECK-COUNT-4: memref.load %{{.*}} : memref<64xf32>
// CHECK:       %[[V:.*]] = vector.from_elements %{{.*}} : vector<2x2xf32>
// CHECK:       %[[FIRST:.*]] = vector.extract %[[V]][0, 0] : f32 from vector<2x2xf32>
// CHECK:       memref.store %[[FIRST]], %{{.*}} : memref<64xf32>
// CHECK-COUNT-3: memref.store
// CHECK:       return
func.func @apart(%m: memref<64xf32>, %i: index, %j: index) {
  %x = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>
  %v = vector.load %x[%i, %j] : memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>, vector<2x2xf32>
  vector.store %v, %x[%j, %i] : memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>, vector<2x2xf32>
  return
}

// CHECK-LABEL: func.func @masked(
// CHECK-NOT:   mdh.layout
// CHECK:       %[[IS:.*]] = vector.extract %{{.*}}[0] : i1 from vector<2xi1>
// CHECK:       scf.if %[[IS]] -> (f32)
// CHECK:         memref.load
// CHECK:       else
// CHECK:         vector.extract %{{.*}}[0] : f32 from vector<2xf32>
// CHECK:       arith.cmpi ult
// CHECK:       scf.if %{{.*}} {
// CHECK:         memref.store
func.func @masked(%m: memref<64xf32>, %i: index, %j: index, %mask: vector<2xi1>, %rest: vector<2xf32>) {
  %x = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>
  %v = vector.maskedload %x[%i, %j], %mask, %rest
    : memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  vector.transfer_write %v, %x[%j, %i] : vector<2xf32>, memref<8x8xf32, #mdh.layout<GenP([8,8],reverse)>>
  return
}

// A view that a computation uses stays until that is loads and stores.
// CHECK-LABEL: func.func @computed(
// CHECK:       mdh.layout.view
func.func @computed(%m: memref<64xf32>, %y: memref<8x8xf32>) {
  // expected-remark @+1 {{stays a view: found 'mdh.compute', expected loads and stores alone}}
  %x = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<Row([8,8])>>
  mdh.compute (i = 8, j = 8)
    out_view(y = %y[i, j] : memref<8x8xf32>)
    md_hom(id, (cc, cc))
    inp_view(x = %x[i, j] : memref<8x8xf32, #mdh.layout<Row([8,8])>>)
  return
}

// -----

// What cannot be computed in the integers that there are, or does not keep the layout's bounds, is refused.
func.func @large(%i: index, %m: index) -> index {
  // expected-error @+1 {{'mdh.layout.apply' op cannot be lowered: }}
  %p = mdh.layout.apply #mdh.layout<Col([m,m])>[%i, %i] with(m = %m)
  return %p : index
}

// -----

func.func @bounds(%i: index) -> index {
  %c100 = arith.constant 100 : index
  // expected-error @+1 {{'mdh.layout.apply' op takes 100 for 'm', expected 1 to 64}}
  %p = mdh.layout.apply #mdh.layout<Col([m,4]) where m = 1..64>[%i, %i] with(m = %c100)
  return %p : index
}
