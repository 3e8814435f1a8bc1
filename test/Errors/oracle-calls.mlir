// What the oracle does not read of functions and memory, at its place.
//
// RUN: not mdh run %s --entry cycle --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=CYCLE
// RUN: not mdh run %s --entry bytes --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not mdh run %s --entry strided --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: not mdh run %s --entry beyond --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not mdh run %s --entry written --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: not mdh run %s --entry two_types --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not mdh run %s --entry between --in n=6 --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=BETWEEN
// RUN: not mdh run %s --entry placed --random 1 --check --no-raise 2>&1 | FileCheck %s --check-prefix=PLACED

func.func private @first(%m: memref<4xi32>) attributes {no_inline} {
  func.call @second(%m) : (memref<4xi32>) -> ()
  return
}
func.func private @second(%m: memref<4xi32>) attributes {no_inline} {
  // CYCLE: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'func.call' op calls '@first' while that runs (@first -> @second -> @first): expected functions that do not lead to themselves, since the oracle reads each call as what it does; write a loop
  func.call @first(%m) : (memref<4xi32>) -> ()
  return
}
func.func @cycle(%m: memref<4xi32>) {
  func.call @first(%m) : (memref<4xi32>) -> ()
  return
}

func.func @bytes(%m: memref<16xi8>, %o: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  // BYTES: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.view' op sees bytes as numbers, which the oracle follows only where they are allocated in the function and nothing but views of the same type of number (not i1) uses them, since it knows the numbers in memory and not their bytes: expected such bytes, or memory of the type of its elements; allocate that, or take parts of it by memref.subview or memref.reinterpret_cast
  %v = memref.view %m[%c0][] : memref<16xi8> to memref<4xi32>
  memref.copy %v, %o : memref<4xi32> to memref<4xi32>
  return
}

func.func @beyond(%m: memref<16xi32>, %o: memref<3x3xi32>) {
  // BEYOND: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.reinterpret_cast' op shows elements of sizes [3, 3] from 2 on by strides [6, 1]: expected them within the 16 elements of the memory
  %v = memref.reinterpret_cast %m to offset: [2], sizes: [3, 3], strides: [6, 1] : memref<16xi32> to memref<3x3xi32, strided<[6, 1], offset: 2>>
  memref.copy %v, %o : memref<3x3xi32, strided<[6, 1], offset: 2>> to memref<3x3xi32>
  return
}

func.func @written(%m: memref<16xi32>, %o: memref<3x3xi32>) {
  %v = memref.reinterpret_cast %m to offset: [2], sizes: [3, 3], strides: [1, 1] : memref<16xi32> to memref<3x3xi32, strided<[1, 1], offset: 2>>
  // WRITTEN: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.copy' op is written by strides [1, 1] over sizes [3, 3], which the oracle does not follow: expected each stride to pass over what the smaller ones reach, or stores in loops
  memref.copy %o, %v : memref<3x3xi32> to memref<3x3xi32, strided<[1, 1], offset: 2>>
  return
}

func.func @strided(%m: memref<4xi32, strided<[2]>>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  // STRIDED: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.reinterpret_cast' op sees memory under other strides of which an argument may show parts only: expected an argument whose elements lie one after the other, or memory of the function
  %a = memref.reinterpret_cast %m to offset: [0], sizes: [2], strides: [1] : memref<4xi32, strided<[2]>> to memref<2xi32, strided<[1]>>
  memref.store %c7, %a[%c0] : memref<2xi32, strided<[1]>>
  return
}

func.func @two_types(%x: memref<4xi32>, %o: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<16xi8>
  // TWO: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.view' op sees bytes as numbers
  %v = memref.view %m[%c0][] : memref<16xi8> to memref<4xi32>
  %w = memref.view %m[%c0][] : memref<16xi8> to memref<4xf32>
  memref.copy %x, %v : memref<4xi32> to memref<4xi32>
  memref.copy %w, %o : memref<4xf32> to memref<4xf32>
  return
}

// Numbers that would be made of the bytes of two.
func.func @between(%x: memref<2xi32>, %n: index) {
  %m = memref.alloc() : memref<16xi8>
  // BETWEEN: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.view' op shows elements of sizes [2] from -1 on by strides [1]: expected them within the 4 elements of the memory
  %v = memref.view %m[%n][] : memref<16xi8> to memref<2xi32>
  memref.copy %x, %v : memref<2xi32> to memref<2xi32>
  return
}

func.func @placed(%m: memref<4xi32, strided<[2]>>, %o: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  // PLACED: oracle-calls.mlir:[[@LINE+1]]:{{[0-9]+}}: error: 'memref.extract_strided_metadata' op sees memory under other strides of which an argument may show parts only
  %base, %off, %sz, %st = memref.extract_strided_metadata %m : memref<4xi32, strided<[2]>> -> memref<i32>, index, index, index
  memref.store %off, %o[%c0] : memref<1xindex>
  return
}
