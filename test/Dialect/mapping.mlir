// #mdh.mapping.
//
// RUN: mdh-opt %s | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --mlir-print-op-generic | mdh-opt | FileCheck %s
// RUN: mdh-opt %s --emit-bytecode | mdh-opt | FileCheck %s

// CHECK: @tiles() attributes {m = #mdh.mapping<[1 to n step 3 width 2].shift_lb.compress_grid([0]).pad_last(128).split_last(128)>}
func.func private @tiles() attributes {
  m = #mdh.mapping<[1 to n step 3 width 2].shift_lb.compress_grid([0]).pad_last(128).split_last(128)>
}

// Spaces and steps alone, spelt with or without what need not be said.
// CHECK: @spaces() attributes {a = #mdh.mapping<[]>, b = #mdh.mapping<[-3 to 5, 8]>, c = #mdh.mapping<[4, 6].permute([1,0])>}
func.func private @spaces() attributes {
  a = #mdh.mapping<[]>, b = #mdh.mapping<[-3 to 5 step 1 width 1, 0 to 8]>, c = #mdh.mapping<[ 4,6 ] . permute([1, 0])>
}

// The example of the thesis.
// CHECK: @thesis() attributes {m = #mdh.mapping<[6 step 3 width 2, 6 step 2].compress_grid([0,1]).fold_last2.pad_last(8).split_last(8)>}
func.func private @thesis() attributes {
  m = #mdh.mapping<[6 step 3 width 2, 6 step 2].compress_grid([0, 1]).fold_last2.pad_last(8).split_last(8)>
}

// What a step asks of symbols follows from their bounds.
// CHECK: @bounded() attributes {m = #mdh.mapping<[n, 8].prune_grid.fold_last2.split_last(4) where n = 64>, n = #mdh.mapping<[l to u step t].shift_lb.prune_grid where t = 2..9>}
func.func private @bounded() attributes {
  m = #mdh.mapping<[n, 8].prune_grid.fold_last2.split_last(4) where n = 64>,
  n = #mdh.mapping<[l to u step t].shift_lb.prune_grid where t = 2..9>
}
