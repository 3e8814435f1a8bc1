// Mappings that are none, or not proved to be one to one and onto: the error is at the step.
//
// RUN: not mdh-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: mapping.mlir:[[@LINE+1]]:68: error: split_last: found the last size 100, expected a multiple of 32 (pad_last(32) makes it one)
func.func private @divides() attributes {m = #mdh.mapping<[4, 100].split_last(32)>}

// -----
// CHECK: mapping.mlir:[[@LINE+1]]:85: error: split_last: not proved: {{.*}}n{{.*}}; expected a step that holds for all values of symbols (pad_last makes a size a multiple), or bounds of which it follows ('where n = 128')
func.func private @open() attributes {m = #mdh.mapping<[n].pad_last(8).permute([0]).split_last(32).fold_last2>}

// -----
// CHECK: mapping.mlir:[[@LINE+1]]:73: error: found no mapping 'splitlast', expected one of {{.*}}; did you mean 'split_last'?
func.func private @unknown() attributes {m = #mdh.mapping<[64].shift_lb.splitlast(32)>}

// -----
// CHECK: mapping.mlir:[[@LINE+1]]:73: error: permute: the permutation lacks 0
func.func private @twice() attributes {m = #mdh.mapping<[4, 6].shift_lb.permute([1, 1])>}

// -----
// CHECK: mapping.mlir:[[@LINE+1]]:{{.*}}: error: prune_grid:
func.func private @normalised() attributes {m = #mdh.mapping<[1 to 9 step 2].prune_grid>}

// -----
// CHECK: mapping.mlir:[[@LINE+1]]:{{.*}}: error: found the width 3 in dimension 0, expected at most its step 2
func.func private @width() attributes {m = #mdh.mapping<[9 step 2 width 3]>}

// -----
// CHECK: mapping.mlir:[[@LINE+1]]:{{.*}}: error: found bounds of 'k', which is no symbol of the mapping
func.func private @bounds() attributes {m = #mdh.mapping<[n] where k = 3>}

// -----
// CHECK: error: found {{.*}}, expected a space
func.func private @empty() attributes {m = #mdh.mapping<>}

// -----
// CHECK: error: expected '<', a mapping and '>' directly after 'mapping'
func.func private @nothing() attributes {m = #mdh.mapping}
