// Code that is wrong, so that it is seen that each sanitizer says so: `beyond...` write one element
// past the end of their memory, one by one, by whole vectors and under a mask; in `race...` the parts
// of a parallel loop write the same elements in these ways.

func.func @beyond(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    memref.store %one, %x[%next] : memref<?xf32>
  }
  return
}

func.func @beyond_by_vectors(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %ones = arith.constant dense<1.0> : vector<16xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %last = arith.subi %n, %c15 : index
  vector.store %ones, %x[%last] : memref<?xf32>, vector<16xf32>
  return
}

func.func @beyond_under_a_mask(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %ones = arith.constant dense<1.0> : vector<16xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = arith.remui %n, %c3 : index
  %five = arith.addi %m, %c5 : index
  %mask = vector.create_mask %five : vector<16xi1>
  %last = arith.subi %n, %c3 : index
  vector.maskedstore %x[%last], %mask, %ones : memref<?xf32>, vector<16xi1>, vector<16xf32>
  return
}

func.func @race(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%p) = (%c0) to (%c4) step (%c1) {
    %number = arith.index_cast %p : index to i32
    %element = arith.sitofp %number : i32 to f32
    memref.store %element, %x[%c0] : memref<?xf32>
    scf.reduce
  }
  return
}

func.func @race_by_vectors(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c15 = arith.constant 15 : index
  %ones = arith.constant dense<1.0> : vector<16xf32>
  scf.parallel (%p) = (%c0) to (%c2) step (%c1) {
    %first = arith.muli %p, %c15 : index
    vector.store %ones, %x[%first] : memref<?xf32>, vector<16xf32>
    scf.reduce
  }
  return
}

func.func @race_under_a_mask(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %ones = arith.constant dense<1.0> : vector<16xf32>
  %n = memref.dim %x, %c0 : memref<?xf32>
  %k = arith.minui %n, %c4 : index
  %five = arith.addi %k, %c1 : index
  %mask = vector.create_mask %five : vector<16xi1>
  scf.parallel (%p) = (%c0) to (%c2) step (%c1) {
    %first = arith.muli %p, %c4 : index
    vector.maskedstore %x[%first], %mask, %ones : memref<?xf32>, vector<16xi1>, vector<16xf32>
    scf.reduce
  }
  return
}
