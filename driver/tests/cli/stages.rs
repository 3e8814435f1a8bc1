//! `mdh compile`: what stands in its stages.

use crate::support::Session;

const SUM: &str = "\
func.func @sum(%x: tensor<?xf32>, %n: index) -> tensor<f32> {
  %init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = %n)
      out_view(s = %init[] : tensor<f32>)
      md_hom(id, (pw(addf)))
      inp_view(x = %x[i] : tensor<?xf32>)
  return %s : tensor<f32>
}
";

/// Returns the number of range checks, which are assertions, in a stage.
fn assertions(session: &Session, arguments: &[&str]) -> usize {
    let line = [&["compile", "a.mlir", "--emit"], arguments].concat();
    let output = session.output(&line);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.matches("cf.assert").count()
}

#[test]
fn range_checks() {
    let session = Session::new();
    session.file("a.mlir", SUM);
    for stage in ["compute", "loops"] {
        assert!(assertions(&session, &[stage]) > 0, "{stage}");
        assert_eq!(
            assertions(&session, &[stage, "--no-range-checks"]),
            0,
            "{stage}"
        );
    }
    assert_eq!(assertions(&session, &["raised"]), 0);
}

/// A computation stands between checks of what it reads, or alone.
#[test]
fn computations() {
    let mut session = Session::new();
    session.file("a.mlir", SUM);
    session.mdh("compile a.mlir --emit compute");
    session.mdh("compile a.mlir --emit compute --no-range-checks");
    insta::assert_snapshot!(session.text());
}
