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
    insta::assert_snapshot!(session.text());
}

/// What was tested is said, built-in operators included.
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
