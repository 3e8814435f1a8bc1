//! Memory that the system refuses: exit code 4 with both numbers, wherever it happens, and nothing
//! half-written.

use std::fmt::Display;

use crate::support::{MDH, Session};

const SUMS: &str = "\
func.func @sums(%x: tensor<?x500xf32>) -> tensor<?x500xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x500xf32>
  %init = tensor.empty(%n) : tensor<?x500xf32>
  %y = mdh.compute (i = %n, j = 500)
    out_view(y = %init[i, j] : tensor<?x500xf32>)
    md_hom(id, (cc, ps(addf)))
    inp_view(x = %x[i, j] : tensor<?x500xf32>)
  return %y : tensor<?x500xf32>
}
";

/// Runs `mdh` with so many KiB of memory, or `unlimited`, and returns the exit code and the output.
fn with_limit(session: &Session, kib: impl Display, arguments: impl Display) -> (i32, String) {
    let line = format!("ulimit -v {kib}; exec $MDH {arguments}");
    let mut command = session.command("bash");
    let output = command
        .env("MDH", MDH)
        .args(["-c", &line])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), said)
}

/// Returns whether a message says how much memory is needed, and how much there is.
fn has_both_numbers(said: &str) -> bool {
    let parts = [
        "error: not enough memory: ",
        " bytes",
        " are needed, ",
        " bytes",
        " are available",
    ];
    let mut rest = said;
    parts.iter().all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[test]
fn every_limit_is_an_error_or_enough() {
    let session = Session::new();
    session.file("a.mlir", SUMS);
    let mut codes = Vec::new();
    let arguments = "run a.mlir --size i=20000 --out y.npy";
    for kib in (200_000..1_600_000).step_by(50_000) {
        let (code, said) = with_limit(&session, kib, arguments);
        codes.push(code);
        let written = session.names().contains(&"y.npy".to_string());
        match code {
            0 => assert!(written, "{kib}"),
            4 => assert!(has_both_numbers(&said), "{kib}: {said}"),
            // The system's loader has no memory for LLVM itself.
            127 => assert!(
                said.contains("error while loading shared libraries"),
                "{said}"
            ),
            _ => panic!("{kib} KiB: exit code {code}: {said}"),
        }
        if code != 0 {
            assert_eq!(session.names(), ["a.mlir"], "{kib} KiB");
        }
        let _ = std::fs::remove_file(session.path("y.npy"));
    }
    assert!(codes.contains(&4), "{codes:?}");
    assert_eq!(with_limit(&session, "unlimited", arguments).0, 0);
}

/// More bytes than can be addressed, as far as sizes alone tell.
#[test]
fn what_cannot_be_addressed_is_too_much() {
    let session = Session::new();
    let rows = "\
func.func @rows(%n: index, %i: index) -> f64 {
  %x = tensor.empty(%n, %n) : tensor<?x?xf64>
  %y = linalg.exp ins(%x : tensor<?x?xf64>) outs(%x : tensor<?x?xf64>) -> tensor<?x?xf64>
  %v = tensor.extract %y[%i, %i] : tensor<?x?xf64>
  return %v : f64
}
";
    session.file("a.mlir", rows);
    for arguments in ["n=2147483648 i=0", "n=2147483648 i=0 --no-range-checks"] {
        let arguments = format!("run a.mlir --in {arguments}");
        let (code, said) = with_limit(&session, "unlimited", arguments);
        assert_eq!(code, 4, "{said}");
        assert!(has_both_numbers(&said), "{said}");
    }
}

/// LLVM's own memory: a program that takes much of it to compile.
#[test]
fn every_limit_of_a_compilation_too() {
    let session = Session::new();
    let program = |n: u32| SUMS.replace("@sums", &format!("@sums{n}"));
    session.file("a.mlir", (0..20).map(program).collect::<String>());
    let mut codes = Vec::new();
    let arguments = "compile a.mlir --emit obj -o a.o";
    for kib in (400_000..1_000_000).step_by(20_000) {
        let (code, said) = with_limit(&session, kib, arguments);
        codes.push(code);
        let is_right = match code {
            0 => session.names() == ["a.mlir", "a.o"],
            4 => has_both_numbers(&said) && session.names() == ["a.mlir"],
            127 => true,
            _ => false,
        };
        assert!(is_right, "{kib} KiB: exit code {code}: {said}");
        let _ = std::fs::remove_file(session.path("a.o"));
    }
    assert!(codes.contains(&4), "{codes:?}");
    assert_eq!(with_limit(&session, "unlimited", arguments).0, 0);
}
