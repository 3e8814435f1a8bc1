//! Ctrl-C: the process ends at once, and nothing half-written stays behind. What has results to
//! show by then asks for the first one instead ([`Interrupts`]).

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Error, ErrorKind, Result, say};
use crate::output;

/// Enough for what the thread does that waits.
const STACK_BYTES: usize = 1 << 16;

/// Set while one Ctrl-C is waited for.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Set by one that came since.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// While this is there, the first Ctrl-C is told instead of ending the process; the second one ends
/// it. There is one at a time.
pub struct Interrupts(());

impl Interrupts {
    /// Asks for them.
    pub fn ask() -> Interrupts {
        INTERRUPTED.store(false, Ordering::SeqCst);
        ASKED.store(true, Ordering::SeqCst);
        Interrupts(())
    }

    /// Set by the first one.
    pub fn flag(&self) -> &'static AtomicBool {
        &INTERRUPTED
    }

    /// The end of what asked: an error, which the user knows of, if there was one.
    pub fn end(self) -> Result<()> {
        drop(self);
        match INTERRUPTED.load(Ordering::SeqCst) {
            true => Err(Error::new(ErrorKind::Interrupted, "")),
            false => Ok(()),
        }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        ASKED.store(false, Ordering::SeqCst);
    }
}

/// Tells the one who has asked for it of an interrupt; false if it is to end the process.
fn is_told(signal: i32) -> bool {
    let is_asked = signal == SIGINT && ASKED.load(Ordering::SeqCst);
    is_asked && !INTERRUPTED.swap(true, Ordering::SeqCst)
}

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
        for signal in signals.forever() {
            // A terminal has shown "^C" on this line.
            let start = if io::stderr().is_terminal() { "\n" } else { "" };
            if is_told(signal) {
                say(&format!(
                    "{start}interrupted: ending; once more ends at once\n"
                ));
                continue;
            }
            output::discard_temporaries();
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
