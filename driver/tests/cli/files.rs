//! Arrays in files that are damaged, or not what the program takes.

use crate::support::{Session, npy};

/// `matvec`, of any size and of one.
const MATVEC: &str = "
func.func @fixed(%M: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2xf32> {
  %init = tensor.empty() : tensor<2xf32>
  %w = mdh.compute (i = 2, k = 3)
      out_view(w = %init[i] : tensor<2xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(M = %M[i, k] : tensor<2x3xf32>, v = %v[k] : tensor<3xf32>)
  return %w : tensor<2xf32>
}
func.func @any(%M: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %M, %c0 : tensor<?x?xf32>
  %n = tensor.dim %M, %c1 : tensor<?x?xf32>
  %init = tensor.empty(%m) : tensor<?xf32>
  %w = mdh.compute (i = %m, k = %n)
      out_view(w = %init[i] : tensor<?xf32>)
      md_hom(mulf, (cc, pw(addf)))
      inp_view(M = %M[i, k] : tensor<?x?xf32>, v = %v[k] : tensor<?xf32>)
  return %w : tensor<?xf32>
}
";

/// A session with `a.mlir`, a matrix of 2x3 and a vector of 3.
fn session() -> Session {
    let session = Session::new();
    session
        .file("a.mlir", MATVEC.trim_start())
        .f32s("M.npy", "(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .f32s("v.npy", "(3,)", &[1.0, 10.0, 100.0]);
    session
}

#[test]
fn what_is_read() {
    let mut session = session();
    session.mdh("run a.mlir --entry fixed --in M.npy v.npy --out w.npy");
    assert_eq!(session.read_f32s("w.npy"), [321.0, 654.0]);
    let fortran: Vec<u8> = [1f32, 4.0, 2.0, 5.0, 3.0, 6.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    session.file("F.npy", npy("<f4", "True", "(2, 3)", &fortran));
    let big: Vec<u8> = [1f32, 10.0, 100.0]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    session.npy("big.npy", ">f4", "(3,)", &big);
    for entry in ["fixed", "any"] {
        session.mdh(&format!(
            "run a.mlir --entry {entry} --in v=big.npy M=F.npy --out w.npy"
        ));
        assert_eq!(session.read_f32s("w.npy"), [321.0, 654.0]);
    }
    session.say("from a pipe");
    session.shell("$MDH run a.mlir --entry any --in M=<(cat F.npy) v.npy --out w.npy");
    assert_eq!(session.read_f32s("w.npy"), [321.0, 654.0]);
    insta::assert_snapshot!(session.text());
}

#[test]
fn damaged() {
    let mut session = session();
    let whole = std::fs::read(session.path("M.npy")).unwrap();
    let header = |descr: &str, fortran: &str, shape: &str| npy(descr, fortran, shape, &[0; 24]);
    let cases: [(&str, Vec<u8>); 15] = [
        ("empty", vec![]),
        ("short", whole[..7].to_vec()),
        ("header", whole[..50].to_vec()),
        ("data", whole[..whole.len() - 1].to_vec()),
        ("zip", [b"PK\x03\x04", &whole[4..]].concat()),
        ("text", b"1 2 3\n4 5 6\n".to_vec()),
        ("version", [&whole[..6], &[9], &whole[7..]].concat()),
        (
            "huge_header",
            [&whole[..6], &[2, 0, 255, 255, 255, 255], &whole[10..]].concat(),
        ),
        ("no_dictionary", [&whole[..10], b"x", &whole[11..]].concat()),
        ("nested", header("<f4", "False", &"[".repeat(60))),
        ("no_order", header("<f4", "Maybe", "(2, 3)")),
        ("no_shape", header("<f4", "False", "2")),
        ("negative", header("<f4", "False", "(-2, 3)")),
        (
            "huge",
            header("<f4", "False", "(1099511627776, 1099511627776)"),
        ),
        (
            "huge_number",
            header("<f4", "False", "(99999999999999999999, 3)"),
        ),
    ];
    for (name, bytes) in cases {
        session.file(&format!("{name}.npy"), bytes);
        session.mdh(&format!("run a.mlir --entry any --in {name}.npy v.npy"));
    }
    session.say("more than one array in a file, and in a pipe");
    session.file("more.npy", [&whole[..], &[1, 2, 3]].concat());
    session.mdh("run a.mlir --entry any --in more.npy v.npy");
    session.shell(
        "$MDH run a.mlir --entry any --in M=<(cat more.npy) v.npy 2>&1 | sed 's:/dev/fd/[0-9]*:PIPE:'",
    );
    session.mdh("run a.mlir --entry any --in missing.npy v.npy");
    session.mdh("run a.mlir --entry any --in M=. v.npy");
    session.mdh("run a.mlir --entry any --in a.mlir v.npy");
    insta::assert_snapshot!(session.text());
}

#[test]
fn types() {
    let mut session = session();
    for (name, descr, bytes) in [
        ("float64", "<f8", 8),
        ("float16", "<f2", 2),
        ("longdouble", "<f16", 16),
        ("complex64", "<c8", 8),
        ("int32", "<i4", 4),
        ("uint8", "|u1", 1),
        ("bool", "|b1", 1),
        ("object", "|O", 8),
        ("string", "<U3", 12),
        ("bytes", "|S4", 4),
        ("time", "<M8[s]", 8),
        ("raw", "|V4", 4),
        ("record", "[('a', '<f4'), ('b', '<i4')]", 8),
        ("wrong", "<q9", 9),
    ] {
        session.npy(&format!("{name}.npy"), descr, "(3,)", &vec![0; 3 * bytes]);
        session.mdh(&format!("run a.mlir --entry fixed --in M.npy {name}.npy"));
    }
    insta::assert_snapshot!(session.text());
}

#[test]
fn shapes() {
    let mut session = session();
    session.f32s("four.npy", "(4,)", &[0.0; 4]);
    session.f32s("scalar.npy", "()", &[0.0]);
    session.f32s("matrix.npy", "(3, 1)", &[0.0; 3]);
    for vector in ["four", "scalar", "matrix"] {
        session.mdh(&format!("run a.mlir --entry fixed --in M.npy {vector}.npy"));
    }
    session.f32s("two.npy", "(2,)", &[0.0; 2]);
    session.mdh("run a.mlir --entry any --in M.npy two.npy");
    session.mdh("run a.mlir --entry any --in M.npy matrix.npy");
    session.say("longer than needed is long enough");
    session.f32s("four.npy", "(4,)", &[1.0, 10.0, 100.0, 1000.0]);
    session.mdh("run a.mlir --entry any --in M.npy four.npy --out w.npy");
    assert_eq!(session.read_f32s("w.npy"), [321.0, 654.0]);
    insta::assert_snapshot!(session.text());
}
