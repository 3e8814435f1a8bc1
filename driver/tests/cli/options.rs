//! Options that mean the same in several commands: JSON to a file or printed, files that are not there, terminals, machines.

use std::fs::File;
use std::process::Output;

use serde_json::Value;

use crate::support::{MDH, Session, example};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command that works; what it prints.
fn done(session: &Session, line: &[&str]) -> String {
    let output = session.output(line);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line:?}: {errors}");
    text(&output.stdout)
}

/// A command that is refused; its exit code, and what it says.
fn refused(session: &Session, line: &[&str]) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = session.output(line);
    assert!(stdout.is_empty(), "{line:?}: {}", text(&stdout));
    (status.code(), text(&stderr))
}

#[test]
fn json_is_printed_or_written_beside_the_text() {
    let session = Session::new();
    let program = example("matvec");
    let lines: [&[&str]; 5] = [
        &["run", &program, "--size", "i=4", "k=4"],
        &["einsum", "ik,k->i", "--size", "i=4", "k=4"],
        &["asm"],
        &["layout", "Row([4,6])", "--apply", "i,j"],
        &["map", "[6 step 3 width 2, 6 step 2]"],
    ];
    for line in lines {
        let printed = done(&session, &[line, &["--json"]].concat());
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert!(printed.is_object(), "{line:?}");
        let shown = done(&session, &[line, &["--json", "o.json"]].concat());
        assert!(
            serde_json::from_str::<Value>(&shown).is_err(),
            "{line:?}: {shown}"
        );
        let written = std::fs::read_to_string(session.path("o.json")).unwrap();
        let written: Value = serde_json::from_str(&written).unwrap();
        let names = |value: &Value| {
            value
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&written), names(&printed), "{line:?}");
    }
    let (code, errors) = refused(&session, &["asm", "--json=no/such/o.json"]);
    assert_eq!(code, Some(1), "{errors}");
}

#[test]
fn json_of_layouts_mappings_and_tensor_programs() {
    let session = Session::new();
    let json = |line: &[&str]| -> Value { serde_json::from_str(&done(&session, line)).unwrap() };
    let layout = json(&[
        "layout",
        "Row([2,3])",
        "--apply",
        "1,2",
        "--inv",
        "4",
        "--table",
        "--check",
        "--json",
    ]);
    assert_eq!(layout["offset"], 5, "{layout}");
    assert_eq!(layout["index"], serde_json::json!([1, 1]));
    assert_eq!(layout["table"], serde_json::json!([[0, 1, 2], [3, 4, 5]]));
    let map = json(&["map", "[64]", "--check", "--emit", "c", "--json"]);
    assert!(map["code"].as_str().unwrap().contains("#include"), "{map}");
    assert_eq!(map["device"], "cuda");
    let example = format!(
        "{}/../examples/tdsl/matvec.tdsl",
        env!("CARGO_MANIFEST_DIR")
    );
    let check = json(&["check", &example, "--json"]);
    let statements = check["statements"].as_array().unwrap();
    assert!(
        statements.iter().all(|s| s["is_compatible"].is_boolean()),
        "{check}"
    );
    assert!(
        !check["variables"].as_array().unwrap().is_empty(),
        "{check}"
    );
}

/// Checks: a word that only a file can have as its name is one that is not there.
#[test]
fn what_is_not_there_is_said_to_be_not_there() {
    let session = Session::new();
    for command in ["run", "compile", "explain", "bench", "tune", "schedule"] {
        let more: &[&str] = match command {
            "compile" => &["--emit", "loops"],
            "schedule" => &["--emit", "json"],
            _ => &[],
        };
        let (code, errors) = refused(&session, &[&[command, "nothere.mlir"], more].concat());
        let expected = "error: cannot read 'nothere.mlir': No such file or directory";
        assert!(errors.starts_with(expected), "{command}: {errors}");
        assert_eq!(code, Some(1), "{command}");
    }
    let (code, errors) = refused(&session, &["bench", "nothere"]);
    assert!(
        errors.contains("there is no workload 'nothere'"),
        "{errors}"
    );
    assert_eq!(code, Some(2));
}

/// Checks: a terminal gets no machine code. (The master of a new terminal is one.)
#[test]
fn no_machine_code_to_a_terminal() {
    let session = Session::new();
    let program = example("matvec");
    for stage in ["obj", "shared"] {
        let line = ["compile", &program, "--emit", stage];
        let terminal = File::options().write(true).open("/dev/ptmx").unwrap();
        let output = session
            .command(MDH)
            .args(line)
            .stdout(terminal)
            .output()
            .unwrap();
        let expected =
            format!("error: --emit {stage} is no text, and is not written to a terminal");
        let errors = text(&output.stderr);
        assert!(errors.starts_with(&expected), "{errors}");
        assert_eq!(output.status.code(), Some(2));
        let (code, errors) = refused(&session, &[&line[..], &["-o", "/dev/ptmx"]].concat());
        assert!(errors.starts_with(&expected), "{errors}");
        assert_eq!(code, Some(2));
    }
    assert!(
        session
            .output(&["compile", &program, "--emit", "obj"])
            .stdout
            .starts_with(b"\x7fELF")
    );
}

#[test]
fn machines_have_one_list_of_names() {
    let session = Session::new();
    let h100 = done(&session, &["asm", "--device", "h100"]);
    for line in [
        ["asm", "--asm", "h100"],
        ["asm", "--device", "sm_90a"],
        ["asm", "--asm", "sm_90"],
    ] {
        assert_eq!(done(&session, &line), h100, "{line:?}");
    }
    assert_eq!(
        done(&session, &["asm", "--asm", "cpu"]),
        done(&session, &["asm"])
    );
    session.file("h100.attr", "#mdh.schedule<>");
    session.file(
        "h100.json",
        done(&session, &["asm", "--device", "h100", "--json"]),
    );
    let program = example("matmul");
    let refusals: [(&[&str], &str); 6] = [
        (
            &["run", &program, "--device", "h100"],
            "`mdh run` cannot take this device: expected one of cpu, sim, cuda",
        ),
        (
            &["explain", &program, "--device", "sim"],
            "`mdh explain` cannot take this device: expected one of cpu, cuda,",
        ),
        (
            &["compile", &program, "--emit", "obj", "--asm", "h100.json"],
            "--asm: found --emit obj, which is code for this machine's processor",
        ),
        (
            &["compile", &program, "--emit", "tiles", "--asm", "h100"],
            "--asm: found 'h100', whose schedules are of blocks and threads",
        ),
        (
            &["tune", &program, "--asm", "h100.json"],
            "--asm: found 'h100.json', and schedules are measured on this machine",
        ),
        (
            &[
                "schedule",
                "h100.attr",
                "--emit",
                "json",
                "--device",
                "h100",
            ],
            "--device is for a function whose schedules the model chooses, and for --tuned: found a file of schedules",
        ),
    ];
    for (line, expected) in refusals {
        let (code, errors) = refused(&session, line);
        assert!(errors.contains(expected), "{line:?}: {errors}");
        assert_eq!(code, Some(2), "{line:?}");
    }
}

/// Checks: another machine's schedules are shown, by its vectors and its cores.
#[test]
fn stages_for_another_machine() {
    let session = Session::new();
    let machine = format!("{}/../test/Inputs/avx512.json", env!("CARGO_MANIFEST_DIR"));
    let program = example("matmul");
    let line = [
        "compile",
        &program,
        "--emit",
        "scheduled",
        "--asm",
        &machine,
    ];
    let expected = session
        .command(MDH)
        .args(&line[..4])
        .env("MDH_ASM", &machine)
        .output()
        .unwrap();
    assert_eq!(done(&session, &line), text(&expected.stdout));
}

#[test]
fn completions_and_pages() {
    let session = Session::new();
    for (shell, start) in [
        ("bash", "_mdh()"),
        ("zsh", "#compdef mdh"),
        ("fish", "# Print an optspec"),
    ] {
        let script = done(&session, &["completions", shell]);
        assert!(script.starts_with(start), "{shell}: {script}");
        assert!(script.contains("no-range-checks"), "{shell}");
    }
    assert!(done(&session, &["man"]).contains(".TH mdh 1"));
    done(&session, &["man", "pages/man1"]);
    let page = std::fs::read_to_string(session.path("pages/man1/mdh-compile.1")).unwrap();
    assert!(page.contains("\\-\\-no\\-range\\-checks"), "{page}");
}
