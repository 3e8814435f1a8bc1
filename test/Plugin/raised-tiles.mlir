// What is raised from linalg, in a stock mlir-opt with our library, and is tiled by upstream's transformations in
// the same call: what comes out gives what went in, and what the definition says. Ties of the arg-max are many.
//
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %s -o %t.mlir \
// RUN:   --pass-pipeline='builtin.module(mdh-raise-linalg,transform-interpreter,canonicalize,cse)'
// RUN: FileCheck %s --input-file=%t.mlir --implicit-check-not linalg.
// RUN: %python %S/../Structured/Inputs/same.py %s %t.mlir
// RUN: mlir-opt --load-dialect-plugin=%mdh_plugin %t.mlir --lower-affine -o %t.lowered.mlir
// RUN: mdh run %t.lowered.mlir --entry for_argmax --check
// RUN: mdh run %t.lowered.mlir --entry forall_argmax --check
// RUN: mdh run %t.lowered.mlir --entry parts_argmax --check
// RUN: mdh run %t.lowered.mlir --entry for_matmul --check
// RUN: mdh run %t.lowered.mlir --entry forall_matmul --check
// RUN: mdh run %t.lowered.mlir --entry parts_matmul --check
// RUN: mdh run %t.lowered.mlir --entry turns_matmul --check
// RUN: mdh run %t.lowered.mlir --entry turns_argmax --check
//
// The first of the best depends on the order, unless ties are decided by the place: parts that take elements in
// turn are refused.
// RUN: sed 's/tile_reduction_using_forall \(.*\) by num_threads = \[0, 5\]/tile_reduction_using_for \1 by tile_sizes = [0, 8]/' %s > %t.turns.mlir
// RUN: not mlir-opt --load-dialect-plugin=%mdh_plugin --load-pass-plugin=%mdh_plugin %t.turns.mlir \
// RUN:   --pass-pipeline='builtin.module(mdh-raise-linalg,transform-interpreter)' 2>&1 | FileCheck %s --check-prefix TURNS
// TURNS: error: 'mdh.compute' op cannot be cut into partial results that take the elements of dimension 'k' in turn: '@select' is not declared commutative; expected an operator that is, or transform.structured.tile_reduction_using_forall, whose parts follow each other
// REQUIRES: numpy
//
// CHECK-LABEL: func.func @for_argmax(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         mdh.compute
// CHECK:         combine select associative
// CHECK:         carry k
// CHECK-LABEL: func.func @forall_argmax(
// CHECK:         scf.forall
// CHECK:         mdh.compute
// CHECK:         pw(select)
// CHECK-LABEL: func.func @parts_argmax(
// CHECK:         scf.forall (%{{.*}}) in (5)
// CHECK:         mdh.compute
// CHECK:         pw(select)
// CHECK:         mdh.compute (i = 37, k = 5)
// CHECK:         pw(select)
// CHECK-LABEL: func.func @for_matmul(
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         scf.for
// CHECK:         mdh.compute
// CHECK:         md_hom(mulf, (cc, cc, pw(addf)))
// CHECK:         carry k
// CHECK-LABEL: func.func @forall_matmul(
// CHECK:         scf.forall
// CHECK:         mdh.compute
// CHECK:         md_hom(mulf, (cc, cc, pw(addf)))
// CHECK-LABEL: func.func @parts_matmul(
// CHECK:         scf.forall (%{{.*}}) in (5)
// CHECK:         mdh.compute
// CHECK:         mulf
// CHECK:         mdh.compute (i = 12, j = 10, k = 5)
// CHECK:         pw(addf)
// CHECK-LABEL: func.func @turns_matmul(
// CHECK:         scf.for
// CHECK:         mdh.compute
// CHECK:         mulf
// CHECK:         mdh.compute (i = 12, j = 10, k = 8)
// CHECK:         pw(addf)
// CHECK-LABEL: func.func @turns_argmax(
// CHECK:         scf.for
// CHECK:         mdh.compute
// CHECK:         combine select commutative associative
// CHECK:         mdh.compute (i = 37, k = 8)
// CHECK:         pw(select)

#rows = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
!any = !transform.any_op

module attributes {transform.with_named_sequence} {
func.func @for_argmax(%x: tensor<37x29xi8>, %v: tensor<37xi8>, %p: tensor<37xi32>) -> (tensor<37xi8>, tensor<37xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<37x29xi8>) outs(%v, %p : tensor<37xi8>, tensor<37xi32>) {
  ^bb0(%e: i8, %best: i8, %place: i32):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i32
    %c = arith.cmpi sgt, %e, %best : i8
    %s = arith.select %c, %e, %best : i8
    %t = arith.select %c, %here, %place : i32
    linalg.yield %s, %t : i8, i32
  } -> (tensor<37xi8>, tensor<37xi32>)
  return %r#0, %r#1 : tensor<37xi8>, tensor<37xi32>
}

func.func @forall_argmax(%x: tensor<37x29xi8>, %v: tensor<37xi8>, %p: tensor<37xi32>) -> (tensor<37xi8>, tensor<37xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<37x29xi8>) outs(%v, %p : tensor<37xi8>, tensor<37xi32>) {
  ^bb0(%e: i8, %best: i8, %place: i32):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i32
    %c = arith.cmpi sgt, %e, %best : i8
    %s = arith.select %c, %e, %best : i8
    %t = arith.select %c, %here, %place : i32
    linalg.yield %s, %t : i8, i32
  } -> (tensor<37xi8>, tensor<37xi32>)
  return %r#0, %r#1 : tensor<37xi8>, tensor<37xi32>
}

func.func @parts_argmax(%x: tensor<37x29xi8>, %v: tensor<37xi8>, %p: tensor<37xi32>) -> (tensor<37xi8>, tensor<37xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<37x29xi8>) outs(%v, %p : tensor<37xi8>, tensor<37xi32>) {
  ^bb0(%e: i8, %best: i8, %place: i32):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i32
    %c = arith.cmpi sgt, %e, %best : i8
    %s = arith.select %c, %e, %best : i8
    %t = arith.select %c, %here, %place : i32
    linalg.yield %s, %t : i8, i32
  } -> (tensor<37xi8>, tensor<37xi32>)
  return %r#0, %r#1 : tensor<37xi8>, tensor<37xi32>
}

func.func @for_matmul(%a: tensor<12x37xf32>, %b: tensor<37x10xf32>, %c: tensor<12x10xf32>) -> tensor<12x10xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<12x37xf32>, tensor<37x10xf32>) outs(%c : tensor<12x10xf32>) -> tensor<12x10xf32>
  return %d : tensor<12x10xf32>
}

func.func @forall_matmul(%a: tensor<12x37xf32>, %b: tensor<37x10xf32>, %c: tensor<12x10xf32>) -> tensor<12x10xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<12x37xf32>, tensor<37x10xf32>) outs(%c : tensor<12x10xf32>) -> tensor<12x10xf32>
  return %d : tensor<12x10xf32>
}

func.func @parts_matmul(%a: tensor<12x37xf32>, %b: tensor<37x10xf32>, %c: tensor<12x10xf32>) -> tensor<12x10xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<12x37xf32>, tensor<37x10xf32>) outs(%c : tensor<12x10xf32>) -> tensor<12x10xf32>
  return %d : tensor<12x10xf32>
}

func.func @turns_matmul(%a: tensor<12x37xf32>, %b: tensor<37x10xf32>, %c: tensor<12x10xf32>) -> tensor<12x10xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<12x37xf32>, tensor<37x10xf32>) outs(%c : tensor<12x10xf32>) -> tensor<12x10xf32>
  return %d : tensor<12x10xf32>
}

// Ties go to the smaller place, in whatever order.
func.func @turns_argmax(%x: tensor<37x29xi8>, %v: tensor<37xi8>, %p: tensor<37xi32>) -> (tensor<37xi8>, tensor<37xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<37x29xi8>) outs(%v, %p : tensor<37xi8>, tensor<37xi32>) {
  ^bb0(%e: i8, %best: i8, %place: i32):
    %k = linalg.index 1 : index
    %here = arith.index_cast %k : index to i32
    %c = arith.cmpi sgt, %best, %e : i8
    %s = arith.select %c, %best, %e : i8
    %tie = arith.cmpi eq, %best, %e : i8
    %less = arith.cmpi slt, %place, %here : i32
    %both = arith.andi %tie, %less : i1
    %keep = arith.ori %c, %both : i1
    %t = arith.select %keep, %place, %here : i32
    linalg.yield %s, %t : i8, i32
  } -> (tensor<37xi8>, tensor<37xi32>)
  return %r#0, %r#1 : tensor<37xi8>, tensor<37xi32>
}

transform.named_sequence @__transform_main(%root: !any {transform.readonly}) {
  %in_for_argmax = transform.structured.match ops{["func.func"]} attributes{sym_name = "for_argmax"} in %root : (!any) -> !any
  %for_argmax = transform.structured.match ops{["mdh.compute"]} in %in_for_argmax : (!any) -> !any
  %t_for_argmax:3 = transform.structured.tile_using_for %for_argmax tile_sizes [5, 7] : (!any) -> (!any, !any, !any)
  %in_forall_argmax = transform.structured.match ops{["func.func"]} attributes{sym_name = "forall_argmax"} in %root : (!any) -> !any
  %forall_argmax = transform.structured.match ops{["mdh.compute"]} in %in_forall_argmax : (!any) -> !any
  %t_forall_argmax:2 = transform.structured.tile_using_forall %forall_argmax tile_sizes [5] : (!any) -> (!any, !any)
  %in_parts_argmax = transform.structured.match ops{["func.func"]} attributes{sym_name = "parts_argmax"} in %root : (!any) -> !any
  %parts_argmax = transform.structured.match ops{["mdh.compute"]} in %in_parts_argmax : (!any) -> !any
  %t_parts_argmax:5 = transform.structured.tile_reduction_using_forall %parts_argmax by num_threads = [0, 5] : (!any) -> (!any, !any, !any, !any, !any)
  %in_for_matmul = transform.structured.match ops{["func.func"]} attributes{sym_name = "for_matmul"} in %root : (!any) -> !any
  %for_matmul = transform.structured.match ops{["mdh.compute"]} in %in_for_matmul : (!any) -> !any
  %t_for_matmul:4 = transform.structured.tile_using_for %for_matmul tile_sizes [4, 5, 8] : (!any) -> (!any, !any, !any, !any)
  %in_forall_matmul = transform.structured.match ops{["func.func"]} attributes{sym_name = "forall_matmul"} in %root : (!any) -> !any
  %forall_matmul = transform.structured.match ops{["mdh.compute"]} in %in_forall_matmul : (!any) -> !any
  %t_forall_matmul:2 = transform.structured.tile_using_forall %forall_matmul tile_sizes [4, 5] : (!any) -> (!any, !any)
  %in_parts_matmul = transform.structured.match ops{["func.func"]} attributes{sym_name = "parts_matmul"} in %root : (!any) -> !any
  %parts_matmul = transform.structured.match ops{["mdh.compute"]} in %in_parts_matmul : (!any) -> !any
  %t_parts_matmul:4 = transform.structured.tile_reduction_using_forall %parts_matmul by num_threads = [0, 0, 5] : (!any) -> (!any, !any, !any, !any)
  %in_turns_matmul = transform.structured.match ops{["func.func"]} attributes{sym_name = "turns_matmul"} in %root : (!any) -> !any
  %turns_matmul = transform.structured.match ops{["mdh.compute"]} in %in_turns_matmul : (!any) -> !any
  %t_turns_matmul:4 = transform.structured.tile_reduction_using_for %turns_matmul by tile_sizes = [0, 0, 8] : (!any) -> (!any, !any, !any, !any)
  %in_turns_argmax = transform.structured.match ops{["func.func"]} attributes{sym_name = "turns_argmax"} in %root : (!any) -> !any
  %turns_argmax = transform.structured.match ops{["mdh.compute"]} in %in_turns_argmax : (!any) -> !any
  %t_turns_argmax:5 = transform.structured.tile_reduction_using_for %turns_argmax by tile_sizes = [0, 8] : (!any) -> (!any, !any, !any, !any, !any)
  transform.yield
}
}
