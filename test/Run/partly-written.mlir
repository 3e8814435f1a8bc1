// A destination that is written in part only is an input: by position, by name, of a random run, of a memref and where
// sizes decide it; what is not written is what it was.
//
// RUN: mdh run %s --entry third --random 0 --check=all | FileCheck %s --check-prefix THIRD
// THIRD:      in {{ *}}x {{ *}}9xf32
// THIRD-NEXT: in {{ *}}y {{ *}}9xf32
// THIRD:      check {{ *}}passed: 9 of 9 elements compared
// RUN: %python -c "import numpy as np; np.save('%t.x.npy', np.arange(9, dtype=np.float32)); np.save('%t.y.npy', 100 + np.arange(9, dtype=np.float32))"
// RUN: mdh run %s --entry third --in %t.x.npy %t.y.npy --out %t.z.npy --check=all | FileCheck %s --check-prefix PASSED
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix VALUES
// RUN: mdh run %s --entry third --in y=%t.y.npy x=%t.x.npy --out %t.z.npy --check=all | FileCheck %s --check-prefix PASSED
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix VALUES
// RUN: mdh run %s --entry in_memory --in %t.x.npy %t.y.npy --out %t.z.npy --check=all | FileCheck %s --check-prefix PASSED
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix VALUES
// PASSED: check {{ *}}passed: 9 of 9 elements compared
// VALUES: [100.0, 1.0, 102.0, 103.0, 4.0, 105.0, 106.0, 7.0, 108.0]
// RUN: not mdh run %s --entry third --in %t.x.npy 2>&1 | FileCheck %s --check-prefix MISSING
// MISSING: error: too few inputs for 'third': found 1, missing y
//
// As large as what is written, it is none.
// RUN: mdh run %s --entry open --in x=%t.x.npy n=9 --size i=9 --check=all | FileCheck %s --check-prefix WHOLE
// WHOLE-NOT: in {{ *}}y
// WHOLE:     check {{ *}}passed: 9 of 9 elements compared
// RUN: mdh run %s --entry open --in x=%t.x.npy y=%t.y.npy n=4 --out %t.z.npy --check=all | FileCheck %s --check-prefix OPEN
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix FOUR
// OPEN: in {{ *}}y {{ *}}9xf32
// OPEN: check {{ *}}passed: 9 of 9 elements compared
// FOUR: [0.0, 1.0, 2.0, 3.0, 104.0, 105.0, 106.0, 107.0, 108.0]
// RUN: not mdh run %s --entry fixed --in x=%t.x.npy n=4 2>&1 | FileCheck %s --check-prefix FIXED
// FIXED: error: too few inputs for 'fixed': found 2, missing y
//
// By position, it is one where as many are given as may be read, and none where as many as are read at all sizes.
// RUN: mdh run %s --entry first --in %t.y.npy %t.x.npy 3 --out %t.z.npy --check=all | FileCheck %s --check-prefix THREE
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix OF-THREE
// THREE: in {{ *}}y {{ *}}9xf32
// THREE: check {{ *}}passed: 9 of 9 elements compared
// OF-THREE: [0.0, 1.0, 2.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0]
// RUN: mdh run %s --entry first --in %t.x.npy 9 --out %t.z.npy --check=all | FileCheck %s --check-prefix WHOLE
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix OF-NINE
// RUN: mdh run %s --entry first --in %t.y.npy %t.x.npy 9 --out %t.z.npy --check=all | FileCheck %s --check-prefix WHOLE
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix OF-NINE
// OF-NINE: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
// RUN: mdh run %s --entry first --in y=%t.y.npy %t.x.npy 3 --out %t.z.npy --check=all | FileCheck %s --check-prefix THREE
// RUN: %python -c "import numpy as np; print(np.load('%t.z.npy').tolist())" | FileCheck %s --check-prefix OF-THREE
// RUN: not mdh run %s --entry first --in %t.x.npy 3 2>&1 | FileCheck %s --check-prefix TWO
// TWO:      error: too few inputs for 'first': found 2, missing y (at these sizes some elements of y are not written and stay)
// TWO-NEXT: help: give each as --in NAME=FILE.npy, or all in the order y, x, n, or add --random SEED for the others
// RUN: not mdh run %s --entry first --in %t.y.npy %t.x.npy 3 4 2>&1 | FileCheck %s --check-prefix TOO-MANY
// TOO-MANY: error: too many inputs: found 4 without a name, expected at most 2, or 3 where what is written in part counts: y, x, n
// RUN: mdh run %s --entry in_turn --in %t.y.npy %t.y.npy %t.x.npy 9 3 --out a=%t.a.npy b=%t.b.npy --check=all | FileCheck %s --check-prefix BOTH
// RUN: %python -c "import numpy as np; print(np.load('%t.a.npy').tolist()); print(np.load('%t.b.npy').tolist())" | FileCheck %s --check-prefix OF-BOTH
// BOTH-NOT: in {{ *}}a
// BOTH:     in {{ *}}b {{ *}}9xf32
// OF-BOTH:      [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
// OF-BOTH-NEXT: [0.0, 1.0, 2.0, 103.0, 104.0, 105.0, 106.0, 107.0, 108.0]
// RUN: not mdh run %s --entry in_turn --in %t.y.npy %t.x.npy 9 3 2>&1 | FileCheck %s --check-prefix BETWEEN
// BETWEEN: error: too many inputs: found 4 without a name, expected at most 3, or 5 where what is written in part counts: a, b, x, n, m
//
// In C, what it held counts.
// RUN: mdh compile %s --entry in_memory --emit header -o - | FileCheck %s --check-prefix HEADER
// HEADER: y{{.*}}changed
//
// A package has it as an input, too.
// RUN: mdh compile %s --entry third --device cuda -o %t.mdhpkg
// RUN: %interpreted mdh-exec %t.mdhpkg | FileCheck %s --check-prefix PACKAGE
// PACKAGE: check{{.*}}passed

func.func @third(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %z = mdh.compute (i = 1 to 9 step 3)
    out_view(y = %y[i] : tensor<9xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<9xf32>)
  return %z : tensor<9xf32>
}

func.func @in_memory(%x: memref<9xf32>, %y: memref<9xf32>) {
  mdh.compute (i = 1 to 9 step 3)
    out_view(y = %y[i] : memref<9xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<9xf32>)
  return
}

func.func @open(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %z = mdh.compute (i = %n)
    out_view(y = %y[i] : tensor<?xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %z : tensor<?xf32>
}

func.func @fixed(%x: tensor<?xf32>, %y: tensor<9xf32>, %n: index) -> tensor<9xf32> {
  %z = mdh.compute (i = %n)
    out_view(y = %y[i] : tensor<9xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : tensor<?xf32>)
  return %z : tensor<9xf32>
}

func.func @first(%y: memref<9xf32>, %x: memref<9xf32>, %n: index) {
  mdh.compute (i = %n)
    out_view(y = %y[i] : memref<9xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<9xf32>)
  return
}

func.func @in_turn(%a: memref<9xf32>, %b: memref<9xf32>, %x: memref<9xf32>, %n: index, %m: index) {
  mdh.compute (i = %n)
    out_view(a = %a[i] : memref<9xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<9xf32>)
  mdh.compute (j = %m)
    out_view(b = %b[j] : memref<9xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[j] : memref<9xf32>)
  return
}
