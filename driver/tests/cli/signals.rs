//! Interrupts: at any time, with the same end.

use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{ENDLESS, MDH, Session};

/// Has no effect, and a result that nothing uses.
const UNUSED: &str = "
func.func @f(%x: i32) -> i32 {
  %end = arith.constant 0 : i32
  %y = scf.while (%n = %x) : (i32) -> i32 {
    %more = arith.cmpi ne, %n, %end : i32
    scf.condition(%more) %n : i32
  } do {
  ^bb0(%n: i32):
    %two = arith.constant 2 : i32
    %odd = arith.ori %n, %two : i32
    scf.yield %odd : i32
  }
  return %x : i32
}
";

/// Has no effect either, and what it gives is what it was given.
const IN_A_COMPUTATION: &str = "
func.func @f(%x: tensor<8xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
  %y = mdh.compute (i = 8)
    out_view(y = %init[i] : tensor<8xi32>)
    md_hom((%e: i32) {
      %same = scf.while (%a = %e) : (i32) -> i32 {
        %again = arith.constant true
        scf.condition(%again) %a : i32
      } do {
      ^bb0(%b: i32):
        scf.yield %b : i32
      }
      mdh.yield %same : i32
    }, (cc))
    inp_view(x = %x[i] : tensor<8xi32>)
  return %y : tensor<8xi32>
}
";

#[test]
fn an_endless_run_is_interrupted() {
    for (signal, code, endless) in [
        (libc::SIGINT, 130, ENDLESS),
        (libc::SIGTERM, 143, UNUSED),
        (libc::SIGHUP, 129, IN_A_COMPUTATION),
    ] {
        let session = Session::new();
        session
            .file("a.mlir", endless.trim_start())
            .file("w.npy", "old");
        let mut command = session.command(MDH);
        command
            .args(["run", "a.mlir", "--out", "w.npy"])
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It runs once it has used more time than reading and compiling take.
        let busy = || std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let ticks = |stat: String| stat.split(' ').nth(13).unwrap().parse::<u64>().unwrap();
        let start = Instant::now();
        while ticks(busy()) < 50 && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        // SAFETY: sends a signal to our own child.
        unsafe { libc::kill(child.id() as i32, signal) };
        let mut text = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{text}");
        assert_eq!(text, "interrupted\n");
        assert_eq!(session.names(), ["a.mlir", "w.npy"]);
        assert_eq!(std::fs::read(session.path("w.npy")).unwrap(), b"old");
    }
}

/// The fields of `/proc/PID/stat` from the state on.
fn stat(child: &Child) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let (_, fields) = text.rsplit_once(") ").unwrap();
    fields.split(' ').map(str::to_string).collect()
}

/// Help goes to a pipe that is full: the process waits while it still reads its command line.
#[test]
fn an_interrupt_before_there_is_work() {
    let (_reader, mut writer) = std::io::pipe().unwrap();
    // SAFETY: asks for the size of a pipe of ours.
    let size = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETPIPE_SZ) };
    writer
        .write_all(&vec![0; usize::try_from(size).unwrap()])
        .unwrap();
    let session = Session::new();
    let mut command = session.command(MDH);
    command.arg("--help").stdout(writer).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // It waits once it has slept for a while.
    let start = Instant::now();
    let mut asleep = 0;
    while asleep < 20 && start.elapsed() < Duration::from_secs(60) {
        asleep = if stat(&child)[0] == "S" {
            asleep + 1
        } else {
            0
        };
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: sends a signal to our own child.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let ended = child.wait_with_output().unwrap();
    let text = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(
        (ended.status.code(), text.as_str()),
        (Some(130), "interrupted\n")
    );
}
