"""A function with so many loop nests: many_nests.py COUNT [BLOCKS] [carry], each of which carries a value if so said"""

import sys

count, *rest = sys.argv[1:]
is_carrying = "carry" in rest
blocks = next((int(word) for word in rest if word.isdigit()), 1)
print("func.func @f(%x: memref<8xf32>, %v: f32) {")
print("  %c0 = arith.constant 0 : index")
print("  %c1 = arith.constant 1 : index")
print("  %c8 = arith.constant 8 : index")
for n in range(int(count)):
    if is_carrying:
        print(f"  %s{n} = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %v) -> f32 {{")
        print("    %y = memref.load %x[%i] : memref<8xf32>")
        print("    %t = arith.addf %s, %y : f32")
        print("    scf.yield %t : f32\n  }")
        print(f"  memref.store %s{n}, %x[%c0] : memref<8xf32>")
    else:
        print("  scf.for %i = %c0 to %c8 step %c1 {")
        print("    memref.store %v, %x[%i] : memref<8xf32>")
        print("  }")
for n in range(1, blocks):
    print(f"  cf.br ^bb{n}\n^bb{n}:")
print("  return\n}")
