// A loop that starts from the undefined tensor that an outer loop carries does not write the outer one's memory,
// also where its result is of no use and an assertion keeps it, or where it writes a part alone.
//
// RUN: mdh run %s --entry dead --random 0 --check=all | FileCheck %s
// RUN: mdh run %s --entry slice --random 0 --check=all | FileCheck %s
// RUN: mdh run %s --entry inside --random 0 --check=all | FileCheck %s
// CHECK: check  passed: 5 of 5 elements compared

func.func @dead(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<5xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %e) -> (tensor<5xf32>) {
    %t = scf.for %j = %c0 to %c5 step %c1 iter_args(%b = %e) -> (tensor<5xf32>) {
      %v = tensor.extract %x[%j] : tensor<5xf32>
      %ok = arith.cmpi slt, %j, %c5 : index
      cf.assert %ok, "no"
      %n = tensor.insert %v into %b[%j] : tensor<5xf32>
      scf.yield %n : tensor<5xf32>
    }
    %u = tensor.extract %x[%i] : tensor<5xf32>
    %w = tensor.extract %y[%i] : tensor<5xf32>
    %s = arith.addf %u, %w : f32
    %n = tensor.insert %s into %a[%i] : tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}

func.func @slice(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<5xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %e) -> (tensor<5xf32>) {
    %part = tensor.extract_slice %e[1] [3] [1] : tensor<5xf32> to tensor<3xf32>
    %t = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %part) -> (tensor<3xf32>) {
      %v = tensor.extract %x[%j] : tensor<5xf32>
      %n = tensor.insert %v into %b[%j] : tensor<3xf32>
      scf.yield %n : tensor<3xf32>
    }
    %u = tensor.extract %t[%c1] : tensor<3xf32>
    %w = tensor.extract %y[%i] : tensor<5xf32>
    %s = arith.addf %u, %w : f32
    %n = tensor.insert %s into %a[%i] : tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}

func.func @inside(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<5xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %e) -> (tensor<5xf32>) {
    %t = mdh.compute (j = 5)
      out_view(t = %e[j] : tensor<5xf32>)
      md_hom(addf, (cc))
      inp_view(x = %x[j][4 - j] : tensor<5xf32>)
    %u = tensor.extract %t[%i] : tensor<5xf32>
    %w = tensor.extract %y[%i] : tensor<5xf32>
    %s = arith.addf %u, %w : f32
    %n = tensor.insert %s into %a[%i] : tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}
