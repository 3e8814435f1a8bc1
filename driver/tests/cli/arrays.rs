//! Assignment of values to arguments.

use crate::support::Session;

const PROGRAM: &str = "
func.func @f(%x: tensor<2xf32>, %n: i32, %y: tensor<2xf32>, %s: f32) -> tensor<2xf32> {
  %z = mdh.compute (i = 2)
      out_view(z = %y[i] : tensor<2xf32>)
      md_hom((%e: f32, %f: f32) { %g = arith.mulf %e, %f : f32 mdh.yield %g : f32 }, (cc))
      inp_view(x = %x[i] : tensor<2xf32>, scale = %s[] : f32)
  return %z : tensor<2xf32>
}
";

#[test]
fn names_and_order() {
    let mut session = Session::new();
    session.file("a.mlir", PROGRAM.trim_start());
    session.f32s("x.npy", "(2,)", &[1.0, 2.0]);
    session.mdh("run a.mlir --in x.npy 7 2.5 --out z.npy");
    assert_eq!(session.read_f32s("z.npy"), [2.5, 5.0]);
    session.mdh("run a.mlir --in scale=2.5 x.npy --in 7");
    session.mdh("run a.mlir --in x.npy --random 3");
    session.mdh("run a.mlir --in x.npy");
    session.mdh("run a.mlir --in x.npy 7 2.5 8 9");
    session.mdh("run a.mlir --in X=x.npy");
    session.mdh("run a.mlir --in x=x.npy x=x.npy");
    session.mdh("run a.mlir --in x=");
    session.mdh("run a.mlir --in");
    session.say("a destination's first value can be given by its name");
    session.mdh("run a.mlir --in z=x.npy --random 3");
    insta::assert_snapshot!(session.text());
}

#[test]
fn scalars() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: TYPE) -> TYPE {
  return %x : TYPE
}
";
    for (ty, values) in [
        ("i1", "true 0 2 -1 x"),
        ("i8", "-128 255 256 0x7f -129"),
        ("i16", "65535 65536"),
        ("i32", "x=-0x80000000 4294967296 1.5 1e3"),
        ("i64", "18446744073709551615 18446744073709551616"),
        ("index", "-9223372036854775808 9223372036854775807"),
        ("f16", "65504 1e9 nan"),
        ("bf16", "-1e38 0x10"),
        ("f32", "1e-45 x=-inf 1,5"),
        ("f64", "0.1 1e400 ."),
    ] {
        session.file("a.mlir", program.trim_start().replace("TYPE", ty));
        for value in values.split(' ') {
            session.mdh_with(&["run", "a.mlir", "--in", value]);
        }
    }
    session.say("an array of no dimension is a scalar too");
    session.npy("half.npy", "<f8", "()", &0.5f64.to_le_bytes());
    session.npy("one.npy", "<f8", "(1,)", &0.5f64.to_le_bytes());
    session.mdh("run a.mlir --in half.npy");
    session.mdh("run a.mlir --in one.npy");
    insta::assert_snapshot!(session.text());
}

/// bf16 has no type in NumPy: its bits are read and written.
#[test]
fn half_precision_and_bits() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<2xbf16>, %y: tensor<2xf16>, %b: tensor<2xi1>, %n: tensor<2xindex>)
    -> (tensor<2xbf16>, tensor<2xf16>, tensor<2xi1>, tensor<2xindex>) {
  return %x, %y, %b, %n : tensor<2xbf16>, tensor<2xf16>, tensor<2xi1>, tensor<2xindex>
}
";
    session.npy("x.npy", "<u2", "(2,)", &[0x80, 0x3f, 0, 0xc0]);
    session.npy("y.npy", ">f2", "(2,)", &[0x3c, 0, 0xc0, 0]);
    session.npy("b.npy", "|b1", "(2,)", &[1, 0]);
    session.npy("n.npy", "<i8", "(2,)", &[255; 16]);
    session.run(
        program,
        "--in x.npy y.npy b.npy n.npy --out a.npy b2.npy c.npy d.npy",
    );
    assert_eq!(session.read("a.npy"), [0x80, 0x3f, 0, 0xc0]);
    assert_eq!(session.read("b2.npy"), [0, 0x3c, 0, 0xc0]);
    assert_eq!(session.read("c.npy"), [1, 0]);
    assert_eq!(session.read("d.npy"), [255; 16]);
    insta::assert_snapshot!(session.text());
}
