//! Ctrl-C: the process ends at once, and nothing half-written stays behind.

use std::io::{self, IsTerminal};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Error, Result, say};
use crate::output;

/// Enough for what the thread does that waits.
const STACK_BYTES: usize = 1 << 16;

/// Watches for Ctrl-C, termination and hang-up from now on: each removes the files that are
/// being written and ends the process with 128 plus the signal's number (130 for Ctrl-C). A
/// signal that the process was told to ignore (`nohup`) stays ignored.
///
/// A file that grows beyond the process's limit becomes an error like any other.
pub fn watch() -> Result<()> {
    // SAFETY: ignoring a signal has no preconditions.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let signals = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|&signal| !is_ignored(signal));
    let failed =
        |error: io::Error| Error::of_system(format!("cannot watch for interrupts: {error}"));
    let mut signals = Signals::new(signals).map_err(failed)?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            output::discard_temporaries();
            // A terminal has shown "^C" on this line.
            let start = if io::stderr().is_terminal() { "\n" } else { "" };
            say(&format!("{start}interrupted\n"));
            // SAFETY: ends the process. Destructors would race with the interrupted work.
            unsafe { libc::_exit(128 + signal) }
        }
    };
    thread::Builder::new()
        .name("interrupt".to_string())
        .stack_size(STACK_BYTES)
        .spawn(wait)
        .map_err(|_| Error::no_memory(STACK_BYTES))?;
    Ok(())
}

/// Returns whether the process was started with that signal ignored.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: asks for the current action and changes nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}
