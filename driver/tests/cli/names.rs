//! Names of arguments and results: those that the program's author gave them.

use crate::support::Session;

#[test]
fn what_the_author_wrote() {
    let mut session = Session::new();
    session.say("scalars that views do not name, one of them read from outside, one a size");
    session.run(
        "
func.func @f(%x: tensor<?xf32>, %factor: f32, %n: index, %unused: i8, %0: i1) -> tensor<?xf32> {
  %y = tensor.empty(%n) : tensor<?xf32>
  %points = mdh.inp_view (i = %n) (%x[i] : tensor<?xf32>) : !mdh.mda<?, f32>
  %scaled = mdh.hom((%e: f32) {
    %s = arith.mulf %e, %factor : f32
    mdh.yield %s : f32
  }, (cc)) %points : !mdh.mda<?, f32> -> !mdh.mda<?, f32>
  %z = mdh.out_view (i) %scaled -> (%y[i] : tensor<?xf32>) : !mdh.mda<?, f32>
  return %z : tensor<?xf32>
}
",
        "--in factor=2 n=3 unused=1 arg4=0 --random 1",
    );
    session.say("a destination that is read, too");
    session.run(
        "
func.func @axpy(%a: f32, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %points = mdh.inp_view (i = 4) (%a[] : f32, %x[i] : tensor<4xf32>, %y[i] : tensor<4xf32>)
      : !mdh.mda<4, f32, f32, f32>
  %sums = mdh.hom((%s: f32, %e: f32, %f: f32) {
    %p = arith.mulf %s, %e : f32
    %q = arith.addf %p, %f : f32
    mdh.yield %q : f32
  }, (cc)) %points : !mdh.mda<4, f32, f32, f32> -> !mdh.mda<4, f32>
  %z = mdh.out_view (i) %sums -> (%y[i] : tensor<4xf32>) : !mdh.mda<4, f32>
  return %z : tensor<4xf32>
}
",
        "",
    );
    session.say("arguments of a call, and what it returns");
    session.run(
        "
func.func private @scale(%in: tensor<4xf32>, %by: f32) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %r = mdh.compute (i = 4)
    out_view(scaled = %init[i] : tensor<4xf32>)
    md_hom(mulf, (cc))
    inp_view(in = %in[i] : tensor<4xf32>, by = %by[] : f32)
  return %r : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>, %two: f32) -> tensor<4xf32> {
  %y = func.call @scale(%x, %two) : (tensor<4xf32>, f32) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
",
        "--entry f",
    );
    insta::assert_snapshot!(session.text());
}

/// An output has the names that the argument has which it is.
#[test]
fn names_of_outputs() {
    let mut session = Session::new();
    let program = "
func.func @f(%buffer: memref<4xi32>) {
  mdh.compute (i = 4)
      out_view(after = %buffer[i] : memref<4xi32>)
      md_hom((%e: i32) { %s = arith.addi %e, %e : i32 mdh.yield %s : i32 }, (cc))
      inp_view(before = %buffer[i] : memref<4xi32>)
  return
}
";
    session.npy("x.npy", "<i4", "(4,)", &[1; 16]);
    session.run(program, "--in buffer=x.npy --out buffer=y.npy");
    session.run(program, "--in before=x.npy --out before=z.npy");
    assert_eq!(session.read("y.npy"), [2; 16]);
    assert_eq!(session.read("z.npy"), [2; 16]);
    session.run(program, "--in x=x.npy");
    session.run(program, "--out y=y.npy");
    insta::assert_snapshot!(session.text());
}
