//! Remarks of passes, which are shown where they are asked for.

use crate::support::Session;

/// Goes through memory backwards, in the order of an operator that is not commutative.
const LAST: &str = "
func.func @last(%x: memref<20xi64>, %y: memref<i64>) {
  mdh.compute (k = 20)
    out_view(y = %y[] : memref<i64>)
    md_hom(id, (pw(second)))
    inp_view(x = %x[19 - k] : memref<20xi64>)
    combine second associative (%a: i64, %b: i64) {
      mdh.yield %b : i64
    }
  return
}
";

const REMARK: &str = "a.mlir:2:3: remark: [mdh-reverse-dimensions] goes through 'k' backwards in memory: its operator keeps the \
                      order: expected a commutative one\n  mdh.compute (k = 20)\n  ^\n";

#[test]
fn remarks_are_those_of_the_passes_that_are_asked_for() {
    let session = Session::new();
    session.file("a.mlir", LAST.trim_start());
    let said = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let output = session.output(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        text
    };
    for command in [
        "run a.mlir --no-warnings",
        "compile a.mlir --emit scheduled",
        "explain a.mlir",
    ] {
        assert!(!said(command).contains("remark"), "{command}");
        assert_eq!(
            said(&format!("{command} --remarks=reverse-dim")),
            REMARK,
            "{command}"
        );
        assert_eq!(
            said(&format!("{command} --remarks=^reverse")),
            "",
            "{command}"
        );
        assert!(
            said(&format!("{command} --remarks")).contains(REMARK),
            "{command}"
        );
    }
    // A stage before has no such pass.
    assert_eq!(said("compile a.mlir --emit formed --remarks"), "");
}

#[test]
fn a_filter_is_a_regular_expression() {
    let session = Session::new();
    session.file("a.mlir", LAST.trim_start());
    let output = session.output(&["run", "a.mlir", "--remarks=mdh-("]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("expected a regular expression for names of passes"),
        "{text}"
    );
}
