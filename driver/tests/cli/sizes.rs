//! `--size`, and sizes that are too large.

use crate::support::{Session, example};

const SUM: &str = "
func.func @sum(%x: tensor<?xf32>, %n: index) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = %n, j = 2)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf), pw(addf)))
      inp_view(x = %x[i + 3 * j] : tensor<?xf32>)
  return %s : tensor<f32>
}
";

#[test]
fn names_and_numbers() {
    let mut session = Session::new();
    session.file("a.mlir", SUM.trim_start());
    for sizes in [
        "i=5",
        "i=5 j=2",
        "i=0",
        "j=3",
        "k=5",
        "i=5 i=5",
        "i=5 --size i=6",
        "i=-1",
        "i=x",
        "i",
        "=5",
        "i=9223372036854775808",
        "",
    ] {
        session.mdh(&format!("run a.mlir --size {sizes}"));
    }
    session.f32s("x.npy", "(8,)", &[1.0; 8]);
    session.mdh("run a.mlir --in x.npy 5 --size i=5");
    session.mdh("run a.mlir --in x.npy 5 --size i=6");
    session.mdh("run a.mlir --in x.npy 6");
    session.mdh("run a.mlir --in x.npy --size i=6 --random 1");
    session.mdh("run a.mlir --in x.npy -3");
    insta::assert_snapshot!(session.text());
}

#[test]
fn what_files_say() {
    let mut session = Session::new();
    session.f32s("M.npy", "(2, 3)", &[1.0; 6]);
    session.f32s("v.npy", "(3,)", &[1.0; 3]);
    let matvec = example("matvec");
    for arguments in [
        "--in M=M.npy --random 1",
        "--in M=M.npy --random 1 --size k=7",
        "--in M=M.npy --random 1 --size k=3",
        "--in v=v.npy --random 1",
        "--in v=v.npy --random 1 --size i=4 k=3",
        "--in v=v.npy --random 1 --size i=4 k=4",
    ] {
        std::fs::copy(&matvec, session.path("matvec.mlir")).unwrap();
        session.mdh(&format!("run matvec.mlir {arguments}"));
    }
    insta::assert_snapshot!(session.text());
}

#[test]
fn empty_dimensions() {
    let mut session = Session::new();
    for (name, size) in [
        ("dot", "i"),
        ("matvec", "i"),
        ("matvec", "k"),
        ("scan", "i"),
    ] {
        std::fs::copy(example(name), session.path("a.mlir")).unwrap();
        session.mdh(&format!("run a.mlir --size {size}=0 --check"));
    }
    insta::assert_snapshot!(session.text());
}

/// Neither starts: both numbers are known before.
#[test]
fn memory() {
    let mut session = Session::new();
    for name in ["dot", "matvec", "scan"] {
        std::fs::copy(example(name), session.path("a.mlir")).unwrap();
        session.mdh("run a.mlir --size i=10000000000000");
        session.mdh("run a.mlir --size i=4611686018427387904");
        session.mdh("run a.mlir --size i=9223372036854775807");
    }
    session.mdh("run a.mlir --size i=9223372036854775807 --check");
    std::fs::copy(example("matvec"), session.path("a.mlir")).unwrap();
    session.mdh("run a.mlir --size i=10000000 k=10000000");
    session.mdh("run a.mlir --size i=4294967296 k=4294967296");
    session.say("a result that is larger than all arguments");
    let outer = "
func.func @outer(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %init = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = mdh.compute (i = %m, j = %n)
      out_view(r = %init[i, j] : tensor<?x?xf32>)
      md_hom(mulf, (cc, cc))
      inp_view(x = %x[i] : tensor<?xf32>, y = %y[j] : tensor<?xf32>)
  return %r : tensor<?x?xf32>
}
";
    session.run(outer, "--size i=10000000 j=10000000");
    insta::assert_snapshot!(session.text());
}

/// Ten million points run.
#[test]
fn large() {
    let session = Session::new();
    for name in ["dot", "scan", "map", "reduce"] {
        let output = session.output(&["run", &example(name), "--size", "i=10000000", "--check"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        // Not all of them are of any size.
        let is_fixed = text.contains("--size cannot make it");
        assert!(output.status.success() || is_fixed, "{name}: {text}");
    }
}
