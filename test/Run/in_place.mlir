// What computations on memrefs do in place.
//
// RUN: %python %S/Inputs/npy.py save %t.x.npy i4 "[[1, 2], [3, 4], [5, 6], [7, 8]]"
// RUN: %python %S/Inputs/npy.py save %t.s.npy i4 "[0, 0]"
// RUN: mdh run %s --check --entry halves --in %t.x.npy --out s=%t.halves.npy
// RUN: %python %S/Inputs/npy.py show %t.halves.npy "a" | FileCheck %s --check-prefix HALVES
// RUN: mdh run %s --check --entry prefixes --in %t.x.npy %t.s.npy --out x=%t.prefixes.npy
// RUN: %python %S/Inputs/npy.py show %t.prefixes.npy "a" | FileCheck %s --check-prefix PREFIXES

// The sums of the columns, of which those of the upper half are added to.
// HALVES: 2 int32
// HALVES-NEXT: 16 20
func.func @halves(%x: memref<4x2xi32>, %s: memref<2xi32>) {
  mdh.compute (i = 2, j = 2)
    out_view(s = %s[j] : memref<2xi32>)
    md_hom(id, (pw(addi), cc))
    inp_view(x = %x[i, j] : memref<4x2xi32>)
  mdh.compute (i = 2 to 4, j = 2)
    out_view(s = %s[j] : memref<2xi32>)
    md_hom(id, (pw(addi), cc))
    inp_view(x = %x[i, j] : memref<4x2xi32>)
    carry i (before = %s[j] : memref<2xi32>)
  return
}

// The same for prefix sums, whose last slices are carried in one buffer; then doubled in place.
// PREFIXES: 4x2 int32
// PREFIXES-NEXT: 2 4
// PREFIXES-NEXT: 8 12
// PREFIXES-NEXT: 18 24
// PREFIXES-NEXT: 32 40
func.func @prefixes(%x: memref<4x2xi32>, %s: memref<2xi32>) {
  %no = arith.constant false
  %y = memref.alloc() : memref<4x2xi32>
  mdh.compute (i = 2, j = 2)
    out_view(y = %y[i, j] : memref<4x2xi32>)
    md_hom(id, (ps(addi), cc))
    inp_view(x = %x[i, j] : memref<4x2xi32>)
    carry i (before = %s[j] : memref<2xi32>) valid %no -> (after = %s[j] : memref<2xi32>)
  mdh.compute (i = 2 to 4, j = 2)
    out_view(y = %y[i, j] : memref<4x2xi32>)
    md_hom(id, (ps(addi), cc))
    inp_view(x = %x[i, j] : memref<4x2xi32>)
    carry i (before = %s[j] : memref<2xi32>) -> (after = %s[j] : memref<2xi32>)
  mdh.compute (i = 4, j = 2)
    out_view(x = %x[i, j] : memref<4x2xi32>)
    md_hom(id, (cc, cc))
    inp_view(y = %y[i, j] : memref<4x2xi32>)
  mdh.compute (i = 4, j = 2)
    out_view(z = %x[i, j] : memref<4x2xi32>)
    md_hom(addi, (cc, cc))
    inp_view(x = %x[i, j] : memref<4x2xi32>, y = %y[i, j] : memref<4x2xi32>)
  memref.dealloc %y : memref<4x2xi32>
  return
}
