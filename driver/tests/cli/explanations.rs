//! `mdh explain`, on machines from files: what it says does not depend on this one.

use crate::support::{Session, example};

/// A machine with two cores.
fn machine(session: &Session) {
    let machine = r#"{"name": "cpu", "layers": [
        {"memory": {"name": "main"}},
        {"core": {"name": "core", "count": 2, "combine_in": [{"region": "main"}]}},
        {"memory": {"name": "L3", "capacity": 33554432, "kind": "cache"}},
        {"memory": {"name": "L2", "capacity": 1048576, "kind": "cache"}},
        {"memory": {"name": "L1", "capacity": 32768, "kind": "cache"}},
        {"memory": {"name": "register", "capacity": 2048}},
        {"core": {"name": "simd", "width": 64, "combine_in": [{"region": "register"}]}}]}"#;
    session.file("machine.json", machine);
}

const PRODUCT: &str = "
func.func @product(%A: tensor<1024x1024xf32>, %B: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %init = tensor.empty() : tensor<1024x1024xf32>
  %C = mdh.compute (i = 1024, j = 1024, k = 1024)
    out_view(C = %init[i, j] : tensor<1024x1024xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<1024x1024xf32>, B = %B[k, j] : tensor<1024x1024xf32>)
  return %C : tensor<1024x1024xf32>
}
";

/// What the model chooses changes with the model; that everything is said does not.
#[test]
fn what_the_model_chooses() {
    let session = Session::new();
    machine(&session);
    session.file("product.mlir", PRODUCT.trim_start());
    for name in ["softmax", "scan"] {
        session.file(
            &format!("{name}.mlir"),
            std::fs::read(example(name)).unwrap(),
        );
    }
    for (name, computations) in [("product", 1), ("softmax", 3), ("scan", 1)] {
        let file = format!("{name}.mlir");
        let output = session.output(&["explain", &file, "--asm", "machine.json"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let count = |line: &str| text.matches(line).count();
        assert_eq!(
            count("  schedule: chosen by the model for 'cpu'\n    - "),
            computations,
            "{text}"
        );
        assert_eq!(
            count("    #mdh.schedule<\n      asm = cpu,"),
            computations,
            "{text}"
        );
        // Without sizes there is nothing to add up.
        let bounds = if name == "scan" { 0 } else { computations };
        assert_eq!(count("\n  bound by "), bounds, "{text}");
        assert_eq!(
            count("  work: not known before the sizes are"),
            computations - bounds,
            "{text}"
        );
        assert_eq!(count("    L2        "), bounds, "{text}");
    }
}

#[test]
fn schedules_and_machines_of_others() {
    let mut session = Session::new();
    machine(&session);
    session.file("product.mlir", PRODUCT.trim_start());
    session.file("s.txt", "#mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: 64, j: *}, L1 {i: 8, k: 1024}, simd {j: 16}]>");
    session.mdh("explain product.mlir --asm machine.json --schedule s.txt");
    session.file("other.json", r#"{"name": "toy", "layers": [{"memory": {"name": "main"}}, {"core": {"name": "core", "combine_in": [{"region": "main"}]}}]}"#);
    session.mdh("explain product.mlir --asm other.json");
    session.mdh("explain product.mlir --asm other.json --schedule s.txt");
    session.mdh("explain product.mlir --asm machine.json --entry nothing");
    session.mdh("explain nowhere.mlir");
    insta::assert_snapshot!(session.text());
}

#[test]
fn on_this_machine() {
    let session = Session::new();
    session.file("product.mlir", PRODUCT.trim_start());
    let output = session.output(&["explain", "product.mlir"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text.contains("2.15 billion operations on 12.0 MiB"),
        "{text}"
    );
}
