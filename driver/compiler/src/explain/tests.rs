//! Tests of summaries, of which table, details, JSON and page are printed: an amount is the same wherever it stands.

use mdh_algebra::code::{Code, Op};
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::examples::{Builder, d};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType::F32;
use mdh_schedule::asm::Asm;

use super::inside::Inside;
use super::summary::{Explanation, Origin, Summary};

/// Two cores with vectors of 64 bytes, each with an L2, which share an L3.
fn machine() -> Asm {
    let text = r#"{"name": "cpu", "layers": [
        {"memory": {"name": "main"}},
        {"core": {"name": "core", "count": 2, "combine_in": [{"region": "main"}]}},
        {"memory": {"name": "L3", "capacity": 33554432, "kind": "cache"}},
        {"memory": {"name": "L2", "capacity": 1048576, "kind": "cache"}},
        {"memory": {"name": "L1", "capacity": 32768, "kind": "cache"}},
        {"memory": {"name": "register", "capacity": 2048}},
        {"core": {"name": "simd", "width": 64, "combine_in": [{"region": "register"}]}}]}"#;
    Asm::from_json(text).unwrap()
}

/// A product of matrices of `n` rows and columns.
fn matrices(n: i64) -> Computation {
    let operator = Operator::Builtin(vec![Builtin::Addf]);
    let combine = [Combine::Cc, Combine::Cc, Combine::Pw(0)];
    let mut product = Builder::new(&[n; 3], &combine, vec![operator])
        .input(F32, &[n, n], &[d(0), d(2)])
        .input(F32, &[n, n], &[d(2), d(1)])
        .scalar(Code::single(Op::Mulf, F32))
        .output(F32, &[n, n], &[d(0), d(1)])
        .0;
    for (dimension, name) in product.dimensions.iter_mut().zip(["i", "j", "k"]) {
        dimension.name = name.to_string();
    }
    let inputs = product.inputs.iter_mut();
    for (buffer, name) in inputs.chain(&mut product.outputs).zip(["A", "B", "C"]) {
        buffer.name = name.to_string();
    }
    product
}

/// A product under a schedule.
fn under(schedule: &str, computation: &Computation) -> Explanation {
    let asm = machine();
    let mut summary = Summary::without_schedule("C", computation, &asm);
    summary.position = Some(0);
    summary.key = Some("0".to_string());
    summary.place = Some("product.mlir:3".to_string());
    summary.origin = Origin::Given;
    summary.by = "given by 's.txt'".to_string();
    summary.schedule = Some(schedule.parse().unwrap());
    summary.run_on(&asm, computation, Inside::default());
    Explanation {
        function: "product".to_string(),
        machine: "cpu".to_string(),
        version: None,
        statements: None,
        computations: vec![summary],
    }
}

const TILED: &str = "#mdh.schedule<asm = cpu, layers = [core {i: 2}, L2 {i: 64, j: *}, L1 {i: 8, k: 1024}, simd {j: 16}]>";

/// The product of `driver/tests/cli/explanations.rs`.
pub(super) fn product() -> Explanation {
    under(TILED, &matrices(1024))
}

#[test]
fn a_table_and_six_lines() {
    let expected = "\
product: 1 computation

  computation  operations    bytes     bound by        cycles        of the limit
  0 C          2.15 billion  12.0 MiB  moving from L1  17.8 million  93 %

computation 0: C (product.mlir:3)
  schedule: given by 's.txt'
    core {i: 2}, L2 {i: 64, j: *}, L1 {i: 8, k: 1024}, simd {j: 16}
  most to gain: 1.06x by tiles of register that keep 'B', which comes 1024 times from L1
";
    assert_eq!(product().brief(), expected);
}

#[test]
fn an_amount_is_the_same_everywhere() {
    let explanation = product();
    let json: serde_json::Value = serde_json::to_value(&explanation).unwrap();
    let computation = &json["computations"][0];
    let cost = &computation["cost"];
    assert_eq!(computation["points"], 1024f64.powi(3));
    assert_eq!(cost["unit"], "cycles");
    assert_eq!(cost["bound"], "moving from L1");
    assert_eq!(cost["time"], cost["parts"][4]["time"]);
    assert_eq!(cost["least"], cost["parts"][0]["time"]);
    assert_eq!(
        computation["memories"][3]["moved"],
        cost["time"].as_f64().unwrap() * 256.0
    );
    let details = explanation.details();
    for part in [
        "  work: 2.15 billion operations on 12.0 MiB, 170.58 operations for each byte\n",
        "moving from L2 12.6 million, moving from L1 17.8 million\n",
        "  bound by moving from L1 (at usual rates in a cycle: 32 multiply-adds a core, ",
    ] {
        assert!(details.contains(part), "{part}\n{details}");
    }
    assert!(details.starts_with(explanation.brief().split("\ncomputation 0").next().unwrap()));
}

/// Checks: cores and lanes that a schedule leaves alone are what would gain most.
#[test]
fn idle_cores_and_lanes_are_gained() {
    let plain = under(
        "#mdh.schedule<layers = [L1 {i: *, j: *, k: *}]>",
        &matrices(1024),
    );
    let cost = plain.computations[0].cost.as_ref().unwrap();
    assert_eq!((cost.bound.as_str(), cost.share), ("computing", 1.0 / 32.0));
    let gain = cost.gain.as_ref().unwrap();
    assert_eq!(
        gain.change,
        "all 2 cores, of which 1 has work and vectors of 16 elements, not of 1"
    );
    // Then what comes from L1 bounds it, by one core still.
    assert!((7.9..8.1).contains(&gain.factor), "{}", gain.factor);
    // A few points are worth no second core.
    let small = under(
        "#mdh.schedule<layers = [L1 {i: *, j: *, k: *}]>",
        &matrices(16),
    );
    let cost = small.computations[0].cost.as_ref().unwrap();
    let gain = cost.gain.as_ref().unwrap();
    assert_eq!(gain.change, "vectors of 16 elements, not of 1");
    // The limit is that of memory: 3 KiB at 8 bytes a cycle.
    assert_eq!(cost.least, 384.0);
}

#[test]
fn sizes_that_are_open_are_asked_for() {
    let mut open = matrices(64);
    open.dimensions[2].upper = None;
    let explanation = under(TILED, &open);
    let text = explanation.brief();
    assert!(
        text.contains("  0 C          ?           ?      ?         ?       ?\n"),
        "{text}"
    );
    let wanted = "  bound: not known before the sizes are: expected --size k=N\n";
    assert!(text.contains(wanted), "{text}");
    let loops = &explanation.computations[0].loops;
    let texts: Vec<String> = loops.iter().map(|each| each.text()).collect();
    assert!(texts.contains(&"16 lanes".to_string()), "{texts:?}");
}

/// Checks: what a machine refuses stands in the place of reasons.
#[test]
fn refusals_are_said() {
    let wide = "#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *, k: *}, simd {j: 64}]>";
    let text = under(wide, &matrices(1024)).brief();
    assert!(
        text.contains("given by 's.txt'; the machine 'cpu' refuses it\n"),
        "{text}"
    );
    assert!(
        text.contains("    - width: 64 parts of 4 bytes on 'simd'"),
        "{text}"
    );
}
