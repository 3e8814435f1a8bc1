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
// In C, what it held counts.
// RUN: mdh compile %s --entry in_memory --emit header -o - | FileCheck %s --check-prefix HEADER
// HEADER: y{{.*}}changed
//
// A package has it as an input, too.
// RUN: mdh compile %s --entry third --device cuda -o %t.mdhpkg
// RUN: %emulated mdh-exec %t.mdhpkg | FileCheck %s --check-prefix PACKAGE
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
