//! A process that runs to its end within limits.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The bytes of output that are kept: the last ones.
const KEPT: usize = 1 << 16;
/// Time between two looks at the user's interruption.
const GLANCE: Duration = Duration::from_millis(10);
/// Time for output to come after the end. Only who has left the process group can still hold it.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// Limits of a run.
pub struct Limits<'l> {
    /// Time after which it hangs.
    pub timeout: Duration,
    /// Time after which nobody wants to know any more.
    pub left: Option<Duration>,
    /// Most bytes of data.
    pub memory: Option<u64>,
    /// Set by the user.
    pub interrupted: &'l AtomicBool,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It has ended.
    Exited(ExitStatus),
    /// It hangs.
    TimedOut,
    /// The user has interrupted, or no time is left.
    GivenUp,
}

/// A run.
pub struct Ran {
    /// Its end.
    pub end: End,
    /// The time from its start to its end.
    pub wall: Duration,
    /// The end of standard output.
    pub output: String,
    /// The end of standard error.
    pub errors: String,
}

/// Runs a command to its end. Its process group is ended with it, whatever becomes of it.
pub fn run(mut command: Command, limits: &Limits<'_>) -> io::Result<Ran> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    crate::set_apart(&mut command, limits.memory);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let output = child.stdout.take().map(tail);
    let errors = child.stderr.take().map(tail);
    let ended = end_of(&child);
    let (end, wall) = watch(&ended, start, limits);
    let status = crate::end_group(&mut child)?;
    Ok(Ran {
        end: end.unwrap_or(End::Exited(status)),
        wall,
        output: text(output),
        errors: text(errors),
    })
}

/// Waits for the end or a limit: the end if it was a limit, and the time that passed.
fn watch(
    ended: &Receiver<Instant>,
    start: Instant,
    limits: &Limits<'_>,
) -> (Option<End>, Duration) {
    loop {
        match ended.recv_timeout(GLANCE) {
            Ok(at) => return (None, at.duration_since(start)),
            // The thread that waits has failed: then nobody knows when it ends.
            Err(RecvTimeoutError::Disconnected) => return (None, start.elapsed()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let elapsed = start.elapsed();
        if limits.interrupted.load(Ordering::Relaxed)
            || limits.left.is_some_and(|left| elapsed >= left)
        {
            return (Some(End::GivenUp), elapsed);
        }
        if elapsed >= limits.timeout {
            return (Some(End::TimedOut), elapsed);
        }
    }
}

/// The moment at which a child ends.
fn end_of(child: &Child) -> Receiver<Instant> {
    let (sender, receiver) = channel();
    let process = child.id();
    std::thread::spawn(move || {
        if let Ok(true) = crate::has_ended(process, 0) {
            // Nobody listens after a limit.
            let _ = sender.send(Instant::now());
        }
    });
    receiver
}

/// Reads to the end, on a thread of its own, and keeps the last bytes.
fn tail(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), vec![0; 1 << 13]);
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..count]);
            if kept.len() > 2 * KEPT {
                kept.drain(..kept.len() - KEPT);
            }
        }
        let _ = sender.send(kept);
    });
    receiver
}

fn text(tail: Option<Receiver<Vec<u8>>>) -> String {
    let bytes = tail.and_then(|tail| tail.recv_timeout(LAST_OUTPUT).ok());
    let bytes = bytes.unwrap_or_default();
    let last = bytes.len().saturating_sub(KEPT);
    String::from_utf8_lossy(&bytes[last..]).into_owned()
}
