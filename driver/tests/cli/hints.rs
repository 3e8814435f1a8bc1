//! Advice on programs and command lines that cannot work.

use crate::support::Session;

const DOUBLE: &str = "
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %y = mdh.compute (i = 4)
      out_view(y = %init[i] : tensor<4xf32>)
      md_hom(addf, (cc))
      inp_view(A = %x[i] : tensor<4xf32>, B = %x[i] : tensor<4xf32>)
  return %y : tensor<4xf32>
}
";

#[test]
fn command_lines() {
    let mut session = Session::new();
    session.f32s("x.npy", "(4,)", &[1.0, 2.0, 3.0, 4.0]);
    session.say("an argument has the name of the signature, too");
    session.run(DOUBLE, "--in x=x.npy --out y.npy");
    assert_eq!(session.read_f32s("y.npy"), [2.0, 4.0, 6.0, 8.0]);
    session.mdh("run a.mlir --in x=x.npy A=x.npy");
    session.mdh("run a.mlir --in z=x.npy");
    session.mdh("run a.mlir --random -1");
    session.say("nothing to give");
    session.run("func.func @f() {\n  return\n}\n", "--in x.npy");
    session.mdh("run a.mlir --out y.npy");
    insta::assert_snapshot!(session.text());
}

#[test]
fn programs() {
    let mut session = Session::new();
    session.say("arithmetic on tensors");
    let tensors = "
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = arith.addf %x, %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
";
    session.run(tensors, "");
    session.say("a function of the C library has no definition to check against");
    let library = "
func.func private @sinf(f32) -> f32
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %y = mdh.compute (i = 4)
      out_view(y = %init[i] : tensor<4xf32>)
      md_hom((%e: f32) {
        %s = func.call @sinf(%e) : (f32) -> f32
        mdh.yield %s : f32
      }, (cc))
      inp_view(x = %x[i] : tensor<4xf32>)
  return %y : tensor<4xf32>
}
";
    session.run(library, "");
    session.mdh("run a.mlir --check");
    session.say("a size that no option changes");
    let huge = DOUBLE.replace("(i = 4)", "(i = 9223372036854775807)");
    session.run(
        &huge.replace("tensor<4x", "tensor<9223372036854775807x"),
        "",
    );
    insta::assert_snapshot!(session.text());
}
