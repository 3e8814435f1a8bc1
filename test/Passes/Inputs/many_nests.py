"""A function with so many loop nests: many_nests.py COUNT [BLOCKS]"""

import sys

print("func.func @f(%x: memref<8xf32>, %v: f32) {")
print("  %c0 = arith.constant 0 : index")
print("  %c1 = arith.constant 1 : index")
print("  %c8 = arith.constant 8 : index")
for _ in range(int(sys.argv[1])):
    print("  scf.for %i = %c0 to %c8 step %c1 {")
    print("    memref.store %v, %x[%i] : memref<8xf32>")
    print("  }")
for n in range(1, int(sys.argv[2]) if len(sys.argv) > 2 else 1):
    print(f"  cf.br ^bb{n}\n^bb{n}:")
print("  return\n}")
