//! Checks that end before there is a result to compare.

use serde_json::Value;

use crate::support::Session;

#[test]
fn laws_that_do_not_hold() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<4xi32>) -> tensor<i32> {
  %init = tensor.empty() : tensor<i32>
  %s = mdh.compute (i = 4)
      out_view(s = %init[] : tensor<i32>)
      md_hom(id, (pw(minus)))
      inp_view(x = %x[i] : tensor<4xi32>)
      combine minus commutative associative (%a: i32, %b: i32) {
        %d = arith.subi %a, %b : i32
        mdh.yield %d : i32
      }
  return %s : tensor<i32>
}
";
    session.run(program, "--check-laws");
    session.say("the same, for programs");
    session.mdh("run a.mlir --check-laws --json");
    let output = session.output(&["run", "a.mlir", "--check-laws", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(printed["error"].as_str().unwrap().contains("commutative"));
    session.say("what a program says of an operator of linalg");
    let licensed = "
#each = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
func.func @f(%x: tensor<4xi32>, %y: tensor<i32>) -> tensor<i32> {
  %s = linalg.generic {indexing_maps = [#each, #one], iterator_types = [\"reduction\"]}
      ins(%x : tensor<4xi32>) outs(%y : tensor<i32>) attrs = {mdh.associative, mdh.commutative} {
  ^bb0(%a: i32, %b: i32):
    %d = arith.subi %a, %b : i32
    linalg.yield %d : i32
  } -> tensor<i32>
  return %s : tensor<i32>
}
";
    session.run(licensed, "--check-laws");
    insta::assert_snapshot!(session.text());
}

/// Checks: what was tested is said, built-in operators included.
#[test]
fn laws_that_hold() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<4xi32>) -> (tensor<i32>, tensor<i32>) {
  %init = tensor.empty() : tensor<i32>
  %s = mdh.compute (i = 4)
      out_view(s = %init[] : tensor<i32>)
      md_hom(id, (pw(last)))
      inp_view(x = %x[i] : tensor<4xi32>)
      combine last associative (%a: i32, %b: i32) {
        mdh.yield %b : i32
      }
  %t = mdh.compute (i = 4)
      out_view(t = %init[] : tensor<i32>)
      md_hom(id, (pw(addi)))
      inp_view(x = %x[i] : tensor<4xi32>)
  return %s, %t : tensor<i32>, tensor<i32>
}
";
    session.run(program, "--check-laws");
    let output = session.output(&["run", "a.mlir", "--check-laws", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["laws"]["laws"], 5);
    assert_eq!(printed["laws"]["operators"], 2);
    let none = "
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
";
    session.run(none, "--check-laws");
    insta::assert_snapshot!(session.text());
}

/// The message stands where the computation does that has no value, not where it is used.
#[test]
fn no_value() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<i32> {
  %init = tensor.empty() : tensor<4xi32>
  %q = mdh.compute (i = 4)
      out_view(q = %init[i] : tensor<4xi32>)
      md_hom((%a: i32, %b: i32) { %d = arith.divsi %a, %b : i32 mdh.yield %d : i32 }, (cc))
      inp_view(x = %x[i] : tensor<4xi32>, y = %y[i] : tensor<4xi32>)
  %none = tensor.empty() : tensor<i32>
  %s = mdh.compute (i = 4)
      out_view(s = %none[] : tensor<i32>)
      md_hom(id, (pw(addi)))
      inp_view(q = %q[i] : tensor<4xi32>)
  return %s : tensor<i32>
}
";
    session.npy("x.npy", "<i4", "(4,)", &[0; 16]);
    session.run(program, "--in x.npy x.npy --check");
    insta::assert_snapshot!(session.text());
}

/// Nothing keeps unchecked code within its memory: whatever becomes of it is not called a bug.
#[test]
fn unchecked_ranges() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<?xi32>, %y: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %z = mdh.compute (i = %n)
      out_view(z = %y[i] : tensor<?xi32>)
      md_hom(id, (cc))
      inp_view(x = %x[i] : tensor<?xi32>)
  return %z : tensor<?xi32>
}
";
    session.npy("x.npy", "<i4", "(6,)", &[0; 24]);
    session.npy("y.npy", "<i4", "(4,)", &[0; 16]);
    session.run(program, "--in x=x.npy y=y.npy n=6 --no-range-checks");
    session.say("far away");
    session.mdh("run a.mlir --in x=x.npy y=y.npy n=4000000000000 --no-range-checks");
    session.say("with checks");
    session.mdh("run a.mlir --in x=x.npy y=y.npy n=6");
    insta::assert_snapshot!(session.text());
}

/// A law that NaN alone breaks is tested with NaN where that is asked for.
#[test]
fn laws_of_special_values() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = 4)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(larger)))
      inp_view(x = %x[i] : tensor<4xf32>)
      combine larger commutative associative (%a: f32, %b: f32) {
        %c = arith.cmpf ogt, %a, %b : f32
        %d = arith.select %c, %a, %b : f32
        mdh.yield %d : f32
      }
  return %s : tensor<f32>
}
";
    session.run(program, "--check-laws");
    assert!(!session.text().contains("NaN"));
    session.mdh("run a.mlir --check-laws --special");
    assert!(session.text().contains("NaN"));
    session.mdh("run a.mlir --special");
    insta::assert_snapshot!(session.text());
}

/// Checks: what a flag of an operation rules out has no value, as a division by zero has none.
#[test]
fn broken_promises() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  %init = tensor.empty() : tensor<4xi32>
  %s = mdh.compute (i = 4)
      out_view(s = %init[i] : tensor<4xi32>)
      md_hom((%a: i32) { %b = arith.addi %a, %a overflow<nsw> : i32 mdh.yield %b : i32 }, (cc))
      inp_view(x = %x[i] : tensor<4xi32>)
  return %s : tensor<4xi32>
}
";
    session.npy("x.npy", "<i4", "(4,)", &[0x7f; 16]);
    session.run(program, "--in x.npy --check");
    session.file("a.mlir", program.replace(" overflow<nsw>", ""));
    session.mdh("run a.mlir --in x.npy --check");
    insta::assert_snapshot!(session.text());
}

/// The sum of some numbers, without a bound that says which it is where they cancel.
const SUM: &str = "
func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = 4)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : tensor<4xf32>)
  return %s : tensor<f32>
}
";

/// Checks: what a check cannot tell from zero is said, and what to do.
#[test]
fn weak_checks() {
    let mut session = Session::new();
    session.f32s("x.npy", "(4,)", &[1e4, -1e4, 1e4, -9999.999]);
    session.run(SUM, "--in x.npy --check");
    let output = session.output(&["run", "a.mlir", "--in", "x.npy", "--check", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["check"]["weak"], serde_json::json!(["s"]));
    assert_eq!(
        (&printed["check"]["compared"], &printed["check"]["told"]),
        (&1.into(), &0.into())
    );
    session.say("no longer");
    session.mdh("run a.mlir --range 0.5..1.5 --check");
    let output = session.output(&["run", "a.mlir", "--range", "0.5..1.5", "--check", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["check"]["weak"], serde_json::json!([]));
    session.mdh("run a.mlir --range y=0..1");
    session.mdh("run a.mlir --range 1..0");
    insta::assert_snapshot!(session.text());
}

/// Of large outputs some elements are compared, unless all are asked for.
#[test]
fn samples() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<70000xi32>) -> tensor<70000xi32> {
  %init = tensor.empty() : tensor<70000xi32>
  %y = mdh.compute (i = 70000)
      out_view(y = %init[i] : tensor<70000xi32>)
      md_hom((%a: i32) { %c = arith.constant 7 : i32 %b = arith.addi %a, %c : i32 mdh.yield %b : i32 }, (cc))
      inp_view(x = %x[i] : tensor<70000xi32>)
  return %y : tensor<70000xi32>
}
";
    session.run(program, "--check");
    session.mdh("run a.mlir --check all");
    session.mdh("run a.mlir --check most");
    insta::assert_snapshot!(session.text());
}

/// A run on a device on which nothing runs says so.
#[test]
fn nothing_for_the_device() {
    let mut session = Session::new();
    let none = "
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
";
    session.run(none, "--device sim --check");
    session.mdh("run a.mlir --device sim --check --fallback cpu");
    session.mdh("compile a.mlir --device cuda -o a.mdhpkg");
    assert!(!session.path("a.mdhpkg").exists());
    session.say("a schedule for a machine without a code generator");
    session.file("s.txt", "#mdh.schedule<asm = opencl, layers = [cu {i: 4}]>");
    session.run(SUM, "--schedule s.txt --device sim --check");
    session.mdh("run a.mlir --schedule s.txt --device sim --check --fallback cpu");
    session.mdh("compile a.mlir --schedule s.txt --device cuda -o a.mdhpkg");
    session.say("nor for the processor, whether the schedule names it or not");
    session.mdh("run a.mlir --schedule s.txt --check");
    session.mdh("run a.mlir --schedule s.txt --check --fallback cpu");
    session.mdh("compile a.mlir --schedule s.txt --emit loops");
    session.mdh("compile a.mlir --schedule s.txt --emit shared -o a.so");
    session.file(
        "t.txt",
        "#mdh.schedule<asm = multi_cuda, layers = [host {i: 4}]>",
    );
    session.mdh("run a.mlir --schedule t.txt");
    session.file("u.txt", "#mdh.schedule<layers = [cu {i: 4}]>");
    session.mdh("run a.mlir --schedule u.txt");
    session.mdh("run a.mlir --device sim --check");
    insta::assert_snapshot!(session.text());
}
