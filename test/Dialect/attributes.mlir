// What passes tell each other in discardable attributes is verified: unknown names, operations that do
// not carry one, and values that it does not have.
//
// RUN: mdh-opt %s --split-input-file --verify-diagnostics | mdh-opt --split-input-file | FileCheck %s

// CHECK: module attributes {mdh.deterministic}
module attributes {mdh.deterministic} {
  // CHECK: func.func @all(
  // CHECK-SAME: attributes {mdh.deterministic, mdh.device_memory, mdh.kernel, mdh.may_alias}
  func.func @all(%n: index) attributes {mdh.kernel, mdh.deterministic, mdh.device_memory, mdh.may_alias} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: } {mdh.level = "L1.i, L1.j on core.y"}
    scf.for %i = %c0 to %n step %c1 {
    } {mdh.level = "L1.i, L1.j on core.y"}
    // CHECK: } {mapping = [#gpu.thread<x>], mdh.cooperative, mdh.level = "thread.i"}
    scf.forall (%t) in (%n) {
    } {mapping = [#gpu.thread<x>], mdh.level = "thread.i", mdh.cooperative}
    return
  }
  // CHECK: func.func @laws(
  // CHECK: linalg.generic
  // CHECK-SAME: attrs =  {mdh.associative, mdh.commutative}
  func.func @laws(%x: tensor<8xi32>, %y: tensor<i32>) -> tensor<i32> {
    %z = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
        ins(%x : tensor<8xi32>) outs(%y : tensor<i32>) attrs = {mdh.associative, mdh.commutative} {
    ^bb0(%a: i32, %o: i32):
      %s = arith.addi %o, %a : i32
      linalg.yield %s : i32
    } -> tensor<i32>
    return %z : tensor<i32>
  }
  // CHECK: func.func private @all_7() attributes {mdh.sizes = "7, ?x-1"}
  func.func private @all_7() attributes {mdh.sizes = "7, ?x-1"}
  // CHECK: func.func private @versions() attributes {mdh.versions = [@all_7, "8, 4x?"]}
  func.func private @versions() attributes {mdh.versions = [@all_7, "8, 4x?"]}
  // CHECK: func.func private @schedules() attributes {mdh.schedules = {exp = #mdh.schedule<
  // CHECK-NEXT: layers = [L2 {i: 4}]>}}
  func.func private @schedules() attributes {mdh.schedules = {exp = #mdh.schedule<layers = [L2 {i: 4}]>}}
  // CHECK: llvm.func @kernel() attributes {mdh.deterministic, mdh.kernel}
  llvm.func @kernel() attributes {mdh.kernel, mdh.deterministic}
}

// -----

// expected-error @+1 {{'func.func' op carries the attribute 'mdh.owner', which the dialect does not have: expected one of 'mdh.cooperative', 'mdh.level', 'mdh.kernel', 'mdh.deterministic', 'mdh.device_memory', 'mdh.may_alias', 'mdh.associative', 'mdh.commutative', 'mdh.fits', 'mdh.map', 'mdh.fma', 'mdh.partly_written', 'mdh.sizes', 'mdh.versions', 'mdh.schedules'; give an attribute of your own another prefix than 'mdh.'}}
func.func private @unknown() attributes {mdh.owner = "block"}

// -----

// expected-error @+1 {{carries 'mdh.kernel' on one of its arguments: expected it on 'func.func', 'llvm.func'; remove it}}
func.func private @argument(f32 {mdh.kernel})

// -----

// expected-error @+1 {{carries 'mdh.kernel' on one of its results: expected it on 'func.func', 'llvm.func'; remove it}}
func.func private @result() -> (f32 {mdh.kernel})

// -----

func.func @cooperative_host(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op carries 'mdh.cooperative': expected it on 'scf.forall'; remove it}}
  scf.for %i = %c0 to %n step %c1 {
  } {mdh.cooperative}
  return
}

// -----

func.func @cooperative_of_computation(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{'mdh.compute' op carries 'mdh.cooperative': expected it on 'scf.forall'; remove it}}
  mdh.compute (i = 8)
    out_view(y = %y[i] : memref<8xf32>)
    md_hom(id, (cc))
    inp_view(x = %x[i] : memref<8xf32>) {mdh.cooperative}
  return
}

// -----

func.func @cooperative_value(%n: index) {
  // expected-error @+1 {{carries 'mdh.cooperative' with the value "thread": expected no value: it is there, or not}}
  scf.forall (%t) in (%n) {
  } {mdh.cooperative = "thread"}
  return
}

// -----

func.func @law_host(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{'linalg.matmul' op carries 'mdh.associative': expected it on 'linalg.generic', 'linalg.reduce'; remove it}}
  %d = linalg.matmul {mdh.associative} ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>
}

// -----

func.func @law_spelling(%x: tensor<8xi32>, %y: tensor<i32>) -> tensor<i32> {
  // expected-error @+1 {{'linalg.generic' op carries the attribute 'mdh.comutative', which the dialect does not have: expected one of 'mdh.cooperative', 'mdh.level', 'mdh.kernel', 'mdh.deterministic', 'mdh.device_memory', 'mdh.may_alias', 'mdh.associative', 'mdh.commutative', 'mdh.fits', 'mdh.map', 'mdh.fma', 'mdh.partly_written', 'mdh.sizes', 'mdh.versions', 'mdh.schedules' (did you mean 'mdh.commutative'?); give an attribute of your own another prefix than 'mdh.'}}
  %z = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xi32>) outs(%y : tensor<i32>) attrs = {mdh.comutative} {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %o, %a : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %z : tensor<i32>
}

// -----

func.func @law_spelling_of_reduce(%x: tensor<4x5xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.reduce' op carries the attribute 'mdh.asociative', which the dialect does not have: expected one of}}
  %z = linalg.reduce { arith.addf } ins(%x : tensor<4x5xf32>) outs(%y : tensor<4xf32>) dimensions = [1] {mdh.asociative}
  return %z : tensor<4xf32>
}

// -----

func.func @law_value(%x: tensor<4x5xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{carries 'mdh.commutative' with the value true: expected no value: it is there, or not}}
  %z = linalg.reduce { arith.addf } ins(%x : tensor<4x5xf32>) outs(%y : tensor<4xf32>) dimensions = [1] {mdh.commutative = true}
  return %z : tensor<4xf32>
}

// -----

func.func @level_host(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op carries 'mdh.level': expected it on 'scf.for', 'scf.forall'; remove it}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  } {mdh.level = "core.i"}
  return
}

// -----

func.func @level_value(%n: index) {
  // expected-error @+1 {{carries 'mdh.level' with the value "core.": expected levels as a string, each 'layer.dimension', or the name of a layer, with ' on PLACE' behind it where that is another one, such as "core.i"}}
  scf.forall (%t) in (%n) {
  } {mdh.level = "core."}
  return
}

// -----

func.func @level_place(%n: index) {
  // expected-error @+1 {{carries 'mdh.level' with the value "core.i on ": expected levels}}
  scf.forall (%t) in (%n) {
  } {mdh.level = "core.i on "}
  return
}

// -----

// expected-error @+1 {{'builtin.module' op carries 'mdh.kernel': expected it on 'func.func', 'llvm.func'; remove it}}
module attributes {mdh.kernel} {
}

// -----

// expected-error @+1 {{carries 'mdh.kernel' with the value true: expected no value: it is there, or not}}
func.func private @kernel_value() attributes {mdh.kernel = true}

// -----

func.func @deterministic_host() {
  // expected-error @+1 {{'func.return' op carries 'mdh.deterministic': expected it on 'builtin.module', 'func.func', 'llvm.func'; remove it}}
  return {mdh.deterministic}
}

// -----

// expected-error @+1 {{carries 'mdh.deterministic' with the value false: expected no value: it is there, or not}}
module attributes {mdh.deterministic = false} {
}

// -----

// expected-error @+1 {{carries 'mdh.sizes' with the value "8 by 4": expected the sizes of all arguments as a string, such as "64x32, 32x?, 7" for two buffers and a number, with ? for what is open}}
func.func private @sizes_value() attributes {mdh.sizes = "8 by 4"}

// -----

// expected-error @+1 {{carries 'mdh.versions' with the value [@f, 8]: expected an array of functions' names, and of sizes as strings, such as [@f_64, "32"]}}
func.func private @versions_value() attributes {mdh.versions = [@f, 8]}

// -----

// expected-error @+1 {{carries 'mdh.schedules' with the value {exp = 8 : i64}: expected schedules by the names of computations, such as {exp = #mdh.schedule<>}}}
func.func private @schedules_value() attributes {mdh.schedules = {exp = 8}}

// -----

// expected-error @+1 {{'builtin.module' op carries 'mdh.versions': expected it on 'func.func'; remove it}}
module attributes {mdh.versions = ["8"]} {
}

// -----

func.func @law_digest(%x: tensor<4x5xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{carries 'mdh.associative' with the value 7 : i64: expected no value, or the digest that 'mdh-to-linalg' writes of an operator, as a string}}
  %z = linalg.reduce { arith.addf } ins(%x : tensor<4x5xf32>) outs(%y : tensor<4xf32>) dimensions = [1] {mdh.associative = 7 : i64}
  return %z : tensor<4xf32>
}
