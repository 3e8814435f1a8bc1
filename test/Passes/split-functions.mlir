// Loop nests of a function that has many become functions of their own.
//
// RUN: %python %S/Inputs/many_nests.py 33 | mdh-opt --mdh-split-functions | FileCheck %s
// RUN: %python %S/Inputs/many_nests.py 32 | mdh-opt --mdh-split-functions | FileCheck %s --check-prefix FEW
// RUN: %python %S/Inputs/many_nests.py 33 | mdh-opt --mdh-split-functions --convert-scf-to-cf | FileCheck %s --check-prefix BRANCHES
// RUN: %python %S/Inputs/many_nests.py 33 2 | mdh-opt --mdh-split-functions 2>&1 | FileCheck %s --check-prefix BLOCKS
// RUN: %python %S/Inputs/many_nests.py 33 carry | mdh-opt --mdh-split-functions | FileCheck %s --check-prefix CARRY
//
// Refuses nothing: what cannot be moved to a function stays where it is.

// CHECK: func.func private @f_nest_0({{.*}}memref<8xf32>
// CHECK: scf.for
// CHECK: func.func @f(
// CHECK: call @f_nest_0

// Silent: few loop nests compile fast as they are.
// FEW: func.func @f(
// FEW-NOT: call @
// FEW: scf.for

// BRANCHES: func.func private @f_nest_0

// BLOCKS: remark: keeps its 33 loop nests, which takes long to compile: it has several blocks, expected one
// BLOCKS-NOT: call @

// What a nest carries out of its loops is returned.
// CARRY: func.func private @f_nest_0({{.*}}memref<8xf32>{{.*}}) -> f32
// CARRY: %[[SUM:.*]] = scf.for {{.*}} iter_args
// CARRY: return %[[SUM]] : f32
// CARRY: func.func @f(
// CARRY: %[[CALL:.*]] = call @f_nest_0({{.*}}) : ({{.*}}) -> f32
// CARRY: memref.store %[[CALL]]
