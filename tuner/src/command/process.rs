//! A process with its children: run within limits, and ended together with all of them.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
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
pub(super) struct Limits<'l> {
    /// Time after which it hangs.
    pub(super) timeout: Duration,
    /// Time after which nobody wants to know any more.
    pub(super) left: Option<Duration>,
    /// Most bytes of data.
    pub(super) memory: Option<u64>,
    /// Folder in which it runs.
    pub(super) folder: Option<&'l Path>,
    /// Set by the user.
    pub(super) interrupted: &'l AtomicBool,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(ExitStatus),
    TimedOut,
    /// The user has interrupted, or no time is left.
    GivenUp,
}

/// A run.
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) wall: Duration,
    /// The end of standard output, and of standard error.
    pub(super) output: String,
    pub(super) errors: String,
}

/// Runs a command to its end. Its process group is ended with it, whatever becomes of it.
pub(super) fn run(words: &[String], limits: &Limits<'_>) -> io::Result<Ran> {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(folder) = limits.folder {
        command.current_dir(folder);
    }
    let memory = limits.memory;
    // SAFETY: between fork and exec it makes system calls only.
    unsafe { command.pre_exec(move || limit(memory)) };
    let start = Instant::now();
    let mut child = command.spawn()?;
    let output = child.stdout.take().map(tail);
    let errors = child.stderr.take().map(tail);
    let ended = end_of(&child);
    let (end, wall) = watch(&ended, start, limits);
    end_group(&child);
    let status = child.wait()?;
    Ok(Ran {
        end: end.unwrap_or(End::Exited(status)),
        wall,
        output: text(output),
        errors: text(errors),
    })
}

/// Limits a process that is about to become the command. It ends with the one that started it.
fn limit(memory: Option<u64>) -> io::Result<()> {
    let set = |resource, most: u64| {
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: most,
        };
        // SAFETY: reads the structure that it is given.
        match unsafe { libc::setrlimit(resource, &limit) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    set(libc::RLIMIT_CORE, 0)?;
    if let Some(bytes) = memory {
        set(libc::RLIMIT_DATA, bytes)?;
    }
    // SAFETY: asks for a signal at the end of the parent.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    Ok(())
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

/// The moment at which a child ends. It stays there to be waited for, so that its number, which is
/// that of its group, is nobody else's when the group is ended.
fn end_of(child: &Child) -> Receiver<Instant> {
    let (sender, receiver) = channel();
    let process = child.id();
    std::thread::spawn(move || {
        // SAFETY: the structure may be all zero, and is written by the call.
        let mut information: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: as above; the child is waited for by nobody else before this returns.
        while unsafe { libc::waitid(libc::P_PID, process, &mut information, options) } != 0 {
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
        // Nobody listens after a limit.
        let _ = sender.send(Instant::now());
    });
    receiver
}

/// Ends a child and all of its group.
fn end_group(child: &Child) {
    let group = child.id().cast_signed();
    // SAFETY: a signal to the group of our own child, which was not waited for yet. There may be
    // nobody left.
    unsafe { libc::kill(-group, libc::SIGKILL) };
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
