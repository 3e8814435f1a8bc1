//! Files for results.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use crate::support::{MDH, Session};

const TWO: &str = "
func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, f32) {
  %c = arith.constant 1 : index
  %e = tensor.extract %x[%c] : tensor<2xf32>
  return %x, %e : tensor<2xf32>, f32
}
";

#[test]
fn names_and_order() {
    let mut session = Session::new();
    session.file("a.mlir", TWO.trim_start());
    session.f32s("x.npy", "(2,)", &[1.0, 2.0]);
    session.mdh("run a.mlir --in x.npy --out a.npy b.npy");
    assert_eq!(session.read_f32s("a.npy"), [1.0, 2.0]);
    assert_eq!(session.read_f32s("b.npy"), [2.0]);
    session.mdh("run a.mlir --in x.npy --out result1=c.npy d.npy");
    assert_eq!(session.read_f32s("c.npy"), [2.0]);
    assert_eq!(session.read_f32s("d.npy"), [1.0, 2.0]);
    for files in [
        "a.npy b.npy c.npy",
        "w=a.npy",
        "result=a.npy result=b.npy",
        "a.npy a.npy",
        "result=a.npy a.npy",
        "-",
        "/dev/null /dev/null",
    ] {
        session.mdh(&format!("run a.mlir --in x.npy --out {files}"));
    }
    session.say("an input may be overwritten: it was read before");
    session.mdh("run a.mlir --in x.npy --out result1=x.npy");
    assert_eq!(session.read_f32s("x.npy"), [2.0]);
    insta::assert_snapshot!(session.text());
}

#[test]
fn unwritable() {
    let mut session = Session::new();
    session.file("a.mlir", TWO.trim_start()).file("old", "old");
    std::fs::create_dir(session.path("directory")).unwrap();
    for file in [
        "no/such/directory/w.npy",
        "directory",
        ".",
        "old/w.npy",
        "/dev/full",
        "/proc/w.npy",
    ] {
        session.mdh(&format!("run a.mlir --out {file}"));
        session.mdh(&format!("compile a.mlir --emit asm -o {file}"));
    }
    session.say("known before the run: the second file is wrong, so there is no first one");
    session.mdh("run a.mlir --out w.npy no/such/directory/w.npy");
    let left = ["a.mlir", "directory", "old"];
    assert_eq!(session.names(), left);
    insta::assert_snapshot!(session.text());
}

#[test]
fn read_only() {
    let session = Session::new();
    session
        .file("a.mlir", TWO.trim_start())
        .file("old.npy", "old");
    let mode = |name: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(session.path(name), permissions).unwrap();
    };
    let attempt = |file: &str| {
        let mut command = session.command(MDH);
        command.args(["run", "a.mlir", "--out", file]);
        // SAFETY: asks who runs this.
        if unsafe { libc::geteuid() } == 0 {
            command.uid(65534);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    mode(".", 0o755);
    mode("old.npy", 0o444);
    let denied = "Permission denied (os error 13)\n";
    assert_eq!(
        attempt("old.npy"),
        format!("error: cannot write 'old.npy': {denied}")
    );
    mode(".", 0o555);
    assert_eq!(
        attempt("new.npy"),
        format!("error: cannot write 'new.npy': {denied}")
    );
    mode(".", 0o755);
    assert_eq!(session.names(), ["a.mlir", "old.npy"]);
    assert_eq!(std::fs::read(session.path("old.npy")).unwrap(), b"old");
}

/// A disk that is full behaves like a limit of the process.
#[test]
fn a_file_that_gets_too_large() {
    let mut session = Session::new();
    let program = "
func.func @f(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  return %x : tensor<1000000xf32>
}
";
    session
        .file("a.mlir", program.trim_start())
        .file("w.npy", "old");
    session.shell("ulimit -f 100; $MDH run a.mlir --out w.npy");
    assert_eq!(session.names(), ["a.mlir", "w.npy"]);
    assert_eq!(std::fs::read(session.path("w.npy")).unwrap(), b"old");
    insta::assert_snapshot!(session.text());
}

#[test]
fn standard_output() {
    let mut session = Session::new();
    session.file("a.mlir", TWO.trim_start());
    session.shell("set -o pipefail; $MDH compile a.mlir --emit llvm | head -1 | cut -c 1-12");
    session.shell("$MDH run a.mlir | true; echo ${PIPESTATUS[0]}");
    session.shell("$MDH run a.mlir > /dev/full");
    session.shell("$MDH compile a.mlir --emit asm > /dev/full");
    session.shell("$MDH run b.mlir 2> /dev/full");
    for command in [
        "run a.mlir",
        "compile a.mlir --emit asm",
        "--version",
        "run --help",
    ] {
        session.shell(&format!("$MDH {command} >&-"));
        session.shell(&format!("$MDH {command} > /dev/full"));
    }
    session.shell("$MDH compile a.mlir --emit asm -o a.s >&- && ls");
    session.say("What is open already is written where it is.");
    session.shell(
        "(echo before; $MDH compile a.mlir --emit compute -o /dev/stdout; echo after) > text; \
         head -1 text; sed -n 2p text | cut -c 1-12; tail -1 text",
    );
    session.shell("$MDH compile a.mlir --emit asm -o /dev/stdout | true; echo ${PIPESTATUS[0]}");
    insta::assert_snapshot!(session.text());
}
