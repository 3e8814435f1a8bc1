//! Progress, on a terminal and in a file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::FromRawFd;
use std::process::{Child, Stdio};

use crate::support::{ENDLESS, MDH, Session};

/// A pseudo-terminal of 80 columns: the end that reads what is shown, and the end of a process.
fn terminal() -> (File, File) {
    let size = libc::winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let (mut reader, mut shown) = (0, 0);
    // SAFETY: opens two files, which are ours then, and reads the size.
    let done = unsafe {
        libc::openpty(
            &mut reader,
            &mut shown,
            std::ptr::null_mut(),
            std::ptr::null(),
            &size,
        )
    };
    assert_eq!(done, 0);
    // SAFETY: both were opened above.
    unsafe { (File::from_raw_fd(reader), File::from_raw_fd(shown)) }
}

fn interrupt(child: &mut Child) {
    // SAFETY: sends a signal to our own child.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_terminal_shows_what_is_being_done() {
    for options in [&["run", "a.mlir"][..], &["run", "a.mlir", "--json"]] {
        let session = Session::new();
        session.file("a.mlir", ENDLESS.trim_start());
        let (mut reader, shown) = terminal();
        let mut command = session.command(MDH);
        command
            .args(options)
            .env_remove("MDH_PROGRESS")
            .stderr(shown);
        let mut child = command.spawn().unwrap();
        let (mut text, mut bytes) = (String::new(), [0; 256]);
        while !text.contains("running ... 2 s") {
            let count = reader.read(&mut bytes).unwrap();
            text += &String::from_utf8_lossy(&bytes[..count]);
        }
        interrupt(&mut child);
        // One line, which is drawn over.
        assert!(!text.contains('\n'), "{text:?}");
    }
}

#[test]
fn a_file_has_a_line_every_ten_seconds() {
    let session = Session::new();
    session.file("a.mlir", ENDLESS.trim_start());
    let start = |options: &[&str], progress: &str| {
        let mut command = session.command(MDH);
        command
            .args(["run", "a.mlir"])
            .args(options)
            .env("MDH_PROGRESS", progress)
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut shown = start(&[], "on");
    let mut silent = [start(&["--json"], "on"), start(&[], "off")];
    let mut lines = BufReader::new(shown.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    assert!(line.starts_with("running ... "), "{line}");
    interrupt(&mut shown);
    assert_eq!(lines.next().unwrap().unwrap(), "interrupted");
    for child in &mut silent {
        interrupt(child);
        let mut text = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "interrupted\n");
    }
}
