//! Ends of a process: exit codes and files left behind. Each case runs this binary again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use mdh_compiler::error::{Error, run};
use mdh_compiler::{interrupt, output};

const CASE: &str = "MDH_PROCESS_CASE";

/// Starts `child` below with that case, and `directory` as its working directory.
fn start(case: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CASE, case)
        .current_dir(directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else {
        return;
    };
    let ended = run(|| {
        interrupt::watch()?;
        match case.as_str() {
            "error" => Err(Error::input("no such thing").help("try another")),
            "diagnosed" => Err(Error::diagnosed()),
            "panic" => panic!("three is not four"),
            "panic while printing" => loop {
                println!("line");
            },
            "asked" => {
                let interrupts = interrupt::Interrupts::ask();
                println!("\nwaiting");
                while !interrupts.flag().load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                println!("told");
                std::thread::sleep(Duration::from_secs(60));
                interrupts.end()
            }
            "told" => {
                let interrupts = interrupt::Interrupts::ask();
                // SAFETY: a signal to this process.
                unsafe { libc::raise(libc::SIGINT) };
                while !interrupts.flag().load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                interrupts.end()
            }
            "print" => loop {
                output::print("line\n")?;
            },
            "write" => output::write_with(&PathBuf::from("result"), |file| {
                file.write_all(b"half of it")?;
                file.flush()?;
                println!("\nwriting");
                std::thread::sleep(Duration::from_secs(60));
                Ok(())
            }),
            other => panic!("no case {other}"),
        }
    });
    std::process::exit(i32::from(ended));
}

/// Runs a case to its end: exit code and standard error.
fn outcome(case: &str) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let output = start(case, directory.path()).wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn an_error_is_printed_once() {
    let (code, text) = outcome("error");
    assert_eq!(code, Some(1));
    assert_eq!(text, "error: no such thing\nhelp: try another\n");
    assert_eq!(outcome("diagnosed"), (Some(1), String::new()));
}

#[test]
fn a_panic_is_a_bug_of_ours() {
    let (code, text) = outcome("panic");
    assert_eq!(code, Some(70));
    let start = "error: this is a bug in mdh, not in your input: three is not four (at ";
    assert!(text.starts_with(start), "{text}");
    assert!(text.contains("report it with the command line"), "{text}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for case in ["print", "panic while printing"] {
        let directory = tempfile::tempdir().unwrap();
        let mut child = start(case, directory.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines
                .by_ref()
                .map_while(Result::ok)
                .any(|line| line == "line")
        );
        drop(lines);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{case}");
        assert!(output.stderr.is_empty(), "{case}");
    }
}

#[test]
fn an_interrupt_leaves_nothing_half_written() {
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("result"), "old").unwrap();
        let mut child = start("write", directory.path());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "writing"));
        let files = || std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(files(), 2);
        // SAFETY: sends a signal to our own child.
        unsafe { libc::kill(child.id() as i32, signal) };
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(files(), 1);
        let content = std::fs::read_to_string(directory.path().join("result")).unwrap();
        assert_eq!(content, "old");
    }
}

#[test]
fn the_second_interrupt_ends_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = start("asked", directory.path());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for expected in ["waiting", "told"] {
        let output = lines.by_ref().map_while(Result::ok);
        assert!(output.into_iter().any(|line| line == expected));
        // SAFETY: sends a signal to our own child.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert_eq!(
        text,
        "interrupted: ending; once more ends at once\ninterrupted\n"
    );
}

#[test]
fn who_asks_for_an_interrupt_ends_by_itself() {
    let (code, text) = outcome("told");
    assert_eq!(code, Some(130));
    assert_eq!(text, "interrupted: ending; once more ends at once\n");
}
