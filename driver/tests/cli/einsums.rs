//! `mdh einsum`: arrays in NumPy's notation, their results by value, and what is said of mistakes.

use serde_json::Value;

use crate::support::Session;

/// Little-endian bytes of floats.
fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn matrices() -> Session {
    let session = Session::new();
    session
        .f32s("a.npy", "(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .f32s("b.npy", "(3, 2)", &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    session
}

#[test]
fn einsums_of_files() {
    let mut session = matrices();
    session.mdh("einsum ij,jk->ik --in a.npy b.npy --out c.npy --check");
    assert_eq!(session.read_f32s("c.npy"), [14.0, 140.0, 32.0, 320.0]);
    session.mdh("einsum ij,jk --in op2=b.npy a.npy --out c.npy --repeat 2 --deterministic");
    assert_eq!(session.read_f32s("c.npy"), [14.0, 140.0, 32.0, 320.0]);
    session.mdh("einsum ij,jk->ik --combine min --scalar add --in a.npy b.npy --out c.npy");
    assert_eq!(session.read_f32s("c.npy"), [2.0, 11.0, 5.0, 14.0]);
    session.mdh("einsum ij,...j->...i --in a.npy a.npy --out c.npy --check all");
    assert_eq!(session.read_f32s("c.npy"), [14.0, 32.0, 32.0, 77.0]);
    session.mdh("einsum ij->j --in a.npy --out c.npy --check-each-step");
    assert_eq!(session.read_f32s("c.npy"), [5.0, 7.0, 9.0]);
    session.mdh("einsum ii->i --in a.npy");
    let line = "einsum ij,jk->ik --in a.npy b.npy --json --check=exact";
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let report: Value = serde_json::from_slice(&session.output(&arguments).stdout).unwrap();
    assert_eq!(report["outputs"][0]["shape"], serde_json::json!([2, 2]));
    assert_eq!(report["check"]["passed"], true);
    session.say("one operand is random");
    session.mdh("einsum ij,jk->ik --in a.npy --random 1 --size k=4 --check");
    insta::assert_snapshot!(session.text());
}

#[test]
fn regions_of_ones_own() {
    let mut session = matrices();
    let most = "commutative associative distributes neutral(0.0 : f32) (%a: f32, %b: f32) {
      %c = arith.maximumf %a, %b : f32
      mdh.yield %c : f32
    }";
    let plus = "commutative associative distributes (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      mdh.yield %c : f32
    }";
    let files = [
        "--in", "a.npy", "b.npy", "a.npy", "--out", "c.npy", "--check",
    ];
    let line = ["einsum", "ij,jk,il->k", "--combine", most, "--scalar", plus];
    session.mdh_with(&[&line[..], &files[..]].concat());
    assert_eq!(session.read_f32s("c.npy"), [15.0, 42.0]);
    let sum = "(%a: f32, %b: f32, %c: f32) {
      %d = arith.addf %a, %b : f32
      %e = arith.subf %d, %c : f32
      mdh.yield %e : f32
    }";
    let line = ["einsum", "ij,jk,ij->k", "--scalar", sum];
    session.mdh_with(&[&line[..], &files[..]].concat());
    assert_eq!(session.read_f32s("c.npy"), [12.0, 120.0]);
    insta::assert_snapshot!(session.text());
}

#[test]
fn types_of_files() {
    let mut session = Session::new();
    session
        .npy("u.npy", "|u1", "(3,)", &[200, 100, 255])
        .npy("b.npy", "|b1", "(3,)", &[1, 0, 1])
        .npy("i.npy", "<i2", "(3,)", &[1, 0, 2, 0, 0xff, 0xff])
        .npy("z.npy", "<c16", "(2,)", &f64s(&[1.0, 2.0, 3.0, -1.0]))
        .file(
            "f.npy",
            crate::support::npy(
                "<c16",
                "True",
                "(2, 2)",
                &f64s(&[1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 2.0]),
            ),
        );
    session.mdh("einsum i->i --in u.npy --out c.npy");
    assert_eq!(session.read("c.npy"), [200, 100, 255]);
    session.mdh("einsum i-> --combine max --in u.npy --out c.npy");
    assert_eq!(session.read("c.npy"), [255]);
    session.mdh("einsum i,i->i --in u.npy i.npy --out c.npy");
    assert_eq!(session.read("c.npy"), [200, 0, 200, 0, 1, 0xff]);
    session.mdh("einsum i,i-> --in b.npy b.npy --out c.npy");
    assert_eq!(session.read("c.npy"), [1]);
    session.mdh("einsum i,i-> --in z.npy z.npy --out c.npy --check");
    assert_eq!(session.read("c.npy"), f64s(&[5.0, -2.0]));
    session.mdh("einsum ij,j->i --in f.npy z.npy --out c.npy --check");
    assert_eq!(session.read("c.npy"), f64s(&[2.0, 5.0, 4.0, 10.0]));
    session.shell("head -c 70 c.npy | tail -c 60");
    insta::assert_snapshot!(session.text());
}

#[test]
fn orders_and_stages() {
    let mut session = Session::new();
    let sizes = "--size i=100 j=2 k=100 l=3";
    session
        .mdh(&format!("einsum ij,jk,kl->il {sizes} --plan"))
        .mdh(&format!("einsum ij,jk,kl->il {sizes} --plan --path 0,1,2"))
        .mdh(&format!("einsum ij,jk,kl->il {sizes} --path 0,1"))
        .mdh("einsum ij,jk->ik --size i=2 j=3 k=4 --emit mdh")
        .mdh("einsum ij,jk->ik --size i=2 j=3 k=4 --dtype f16 i8 --emit mdh -o f.mlir")
        .mdh("run f.mlir --check")
        .mdh("einsum ij,jk->ik --size i=2 j=3 k=4 --device sim --check");
    insta::assert_snapshot!(session.text());
}

#[test]
fn mistakes() {
    let mut session = matrices();
    session.npy("s.npy", "<U3", "(1,)", &[0; 12]);
    session
        .mdh("einsum i0->i --in a.npy")
        .mdh("einsum ij,jk->ik --in a.npy a.npy")
        .mdh("einsum ij,jk->ik --in a.npy")
        .mdh("einsum ij,jk->ik --in a.npy b.npy a.npy")
        .mdh("einsum ij,jk->ik --in op3=a.npy b.npy")
        .mdh("einsum ij,jk->ik --in a.npy b.npy --size j=4")
        .mdh("einsum ij,jk->ik --in a.npy b.npy --size x=4")
        .mdh("einsum ij --in a.npy --combine plus")
        .mdh("einsum ij-> --in a.npy --combine sub")
        .mdh("einsum ij-> --in a.npy --combine or")
        .mdh("einsum ij --in a.npy --path x")
        .mdh("einsum i --in s.npy")
        .mdh("einsum i --in nowhere.npy")
        .mdh("einsum i --size i=3 --dtype f8")
        .mdh("einsum i --size i=3 --dtype f32 f32")
        .mdh("einsum i,j->ij --size i=4000000000 j=4000000000");
    insta::assert_snapshot!(session.text());
}
