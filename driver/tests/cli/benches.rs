//! `mdh bench`, at sizes so small that times mean nothing: what is reported, and what is said of
//! mistakes.

use serde_json::Value;

use crate::support::{MDH, Session};

/// Rows of a quick run without peers.
fn rows(session: &Session, arguments: &[&str]) -> Vec<Value> {
    let common = ["bench", "--quick", "--peers", "none", "--json", "rows.json"];
    let output = session.output(&[&common, arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let text = std::fs::read_to_string(session.path("rows.json")).unwrap();
    let rows: Value = serde_json::from_str(&text).unwrap();
    rows.as_array().unwrap().clone()
}

#[test]
fn every_workload_is_right() {
    let session = Session::new();
    let rows = rows(&session, &[]);
    let listed = session.output(&["bench", "--quick", "--list"]).stdout;
    let listed = String::from_utf8(listed).unwrap();
    let name = |row: &Value| format!("{}/{}", row["workload"], row["size"]).replace('"', "");
    let names: Vec<String> = rows.iter().map(name).collect();
    assert_eq!(names, listed.lines().collect::<Vec<_>>());
    for row in &rows {
        assert_eq!(row["checked"], true, "{row}");
        assert!(row["ours_ms"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["compile_ms"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["limit"]["fraction"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["limit"]["kind"].is_string(), "{row}");
        assert_eq!(row["device"], "cpu", "{row}");
        assert!(
            ["f32", "f64", "i32"].contains(&row["dtype"].as_str().unwrap()),
            "{row}"
        );
        for nothing in ["best_peer", "ratio", "ci", "failed"] {
            assert_eq!(row[nothing], Value::Null, "{row}");
        }
        assert_eq!(
            (&row["peers"], &row["notes"]),
            (&serde_json::json!({}), &serde_json::json!([]))
        );
    }
}

/// Checks: where results are updated inputs, they are right however often each program has run before.
#[test]
fn variants_stand_below_their_workload() {
    let session = Session::new();
    let rows = rows(&session, &["inplace"]);
    assert_eq!(rows.len(), 3);
    for row in &rows {
        let variants = row["variants"].as_array().unwrap();
        let names: Vec<&Value> = variants.iter().map(|variant| &variant["name"]).collect();
        assert_eq!(names, ["with_copy", "kept_temporary", "other_variable"]);
        for variant in variants {
            assert_eq!(variant["failed"], Value::Null, "{row}");
            let ratio = variant["ms"].as_f64().unwrap() / row["ours_ms"].as_f64().unwrap();
            assert!(
                (variant["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9 * ratio,
                "{row}"
            );
        }
    }
}

#[test]
fn names() {
    let mut session = Session::new();
    session.mdh("bench --list matmul scan/16777216");
    session.mdh("bench matmull");
    session.mdh("bench dot matmul/1024 --peers none");
    session.mdh("bench dot --peers numpy,tensorflow");
    session.mdh("bench dot --quick --peers none --json nowhere/rows.json");
    session.mdh("bench dot --device tpu");
    insta::assert_snapshot!(session.text());
}

#[test]
fn peers_that_are_missing_are_named() {
    let session = Session::new();
    let mut command = session.command(MDH);
    command.args(["bench", "dot", "--quick", "--peers", "numpy,torch"]);
    let output = command.env("MDH_PEERS", "nowhere").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    for name in ["numpy", "torch"] {
        let line = format!("note: {name} is not here: there is no 'nowhere/bin/python'");
        assert!(errors.contains(&line), "{errors}");
    }
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn results_are_drawn() {
    let session = Session::new();
    let line = [
        "bench", "dot", "scan", "--quick", "--peers", "none", "--svg", "a.svg",
    ];
    assert_eq!(session.output(&line).status.code(), Some(0));
    let picture = std::fs::read_to_string(session.path("a.svg")).unwrap();
    assert!(
        picture.starts_with("<svg ") && picture.ends_with("</svg>\n"),
        "{picture}"
    );
    assert!(
        picture.contains("dot/1000") && picture.contains("scan/1000"),
        "{picture}"
    );
    assert_eq!(session.names(), ["a.svg"]);
}

#[test]
fn schedules_are_taken() {
    let session = Session::new();
    session.file("s.txt", "#mdh.schedule<layers = [main {i: 7}]>");
    let arguments = [
        "bench",
        "dot",
        "--quick",
        "--peers",
        "none",
        "--schedule",
        "s.txt",
    ];
    let output = session.output(&arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("breaks 'cover'"), "{errors}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
}

/// Nothing is measured and nothing is written where a schedule is none of the workload's.
#[test]
fn wrong_schedules_are_refused_before() {
    let session = Session::new();
    session.file("bad.json", r#"{"layers": [{"core": {"zz": 2}}]}"#);
    for (file, expected) in [
        (
            "bad.json",
            "'unknown-dimension': layer 'core': found dimension 'zz', expected one of i",
        ),
        ("none.json", "cannot read 'none.json'"),
    ] {
        let common = [
            "bench",
            "dot",
            "--quick",
            "--peers",
            "none",
            "--json",
            "rows.json",
        ];
        let output =
            session.output(&[&common[..], &["--svg", "rows.svg", "--schedule", file]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(expected), "{errors}");
        assert!(output.stdout.is_empty());
        assert!(!session.path("rows.json").exists() && !session.path("rows.svg").exists());
    }
}
