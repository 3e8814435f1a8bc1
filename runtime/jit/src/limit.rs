//! A limit on LLVM's time: a pass that does not end is named, with the function that it is at.
//!
//! ```text
//! within(limit, work) -- done in time --> result
//!                     '- not yet ------> Slow: the pass and the function
//! ```
//!
//! LLVM cannot be interrupted. The work has a thread of its own, and what it works on; where it takes
//! longer than the limit in this thread's processor time, it is left alone, with what the processors have
//! left. The thread is asked for its place in the way that LLVM tells a crash: a signal has it print its
//! stack of passes. The process ends without destructors then, which would take away what the thread
//! works on.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::FromRawFd;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

use llvm_sys::error_handling::LLVMEnablePrettyStackTrace;

use crate::exhaustion;

/// Number of seconds of processor time, in the environment.
const SECONDS: &str = "MDH_LLVM_SECONDS";

/// Without that: several times as long as the longest function of any test takes.
const USUAL: Duration = Duration::from_secs(60);

/// Stack of the thread: LLVM goes down into what is nested.
const STACK: usize = 64 << 20;

/// Time that the thread has to tell its place.
const ANSWER: Duration = Duration::from_secs(2);

/// Work of LLVM's that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slow {
    /// The limit that it has exceeded.
    pub limit: Duration,
    /// The pass, and the function that it is at, if these are known.
    pub place: Option<(String, String)>,
}

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((pass, function)) => write!(
                f,
                "LLVM's pass '{pass}' has not ended on function '{function}'"
            )?,
            None => write!(f, "LLVM has not ended")?,
        }
        write!(f, " after {} s of processor time", self.limit.as_secs_f64())
    }
}

static WARNING: OnceLock<fn(&Slow)> = OnceLock::new();

/// Sets what is called when work has not ended and less of it is tried. The first handler stays.
pub fn on_slow(handler: fn(&Slow)) {
    let _ = WARNING.set(handler);
}

/// Calls the [handler](on_slow).
pub(crate) fn warn(slow: &Slow) {
    match WARNING.get() {
        Some(handler) => handler(slow),
        None => eprintln!("warning: {slow}"),
    }
}

/// The limit that the environment sets.
pub(crate) fn usual() -> Duration {
    let seconds = std::env::var(SECONDS).ok();
    let seconds = seconds.and_then(|text| text.parse::<f64>().ok());
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.unwrap_or(USUAL)
}

/// A value that another thread takes over as a whole.
struct Moved<T>(T);

// SAFETY: LLVM's objects belong to no thread; only one has them at a time.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    fn take(self) -> T {
        self.0
    }
}

/// The thread that works.
struct Worker {
    thread: libc::pthread_t,
    number: libc::pid_t,
    clock: libc::clockid_t,
}

/// Returns what the work gives, unless it takes too long.
///
/// # Safety
/// Nobody else uses what the work uses until it has ended.
pub(crate) unsafe fn within<T: 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + 'static,
) -> Result<T, Slow> {
    let (done, result) = channel();
    let (started, worker) = channel();
    let work = Moved(work);
    let run = move || {
        let _ = started.send(Worker::this());
        let _ = done.send(Moved(work.take()()));
    };
    let Ok(handle) = Builder::new()
        .name("llvm".into())
        .stack_size(STACK)
        .spawn(run)
    else {
        exhaustion::end(STACK);
    };
    let worker = worker.recv();
    let mut left = limit;
    loop {
        match result.recv_timeout(left.max(Duration::from_millis(1))) {
            Ok(value) => return Ok(value.take()),
            Err(RecvTimeoutError::Disconnected) => match handle.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it sends a result before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Ok(worker) = &worker else { continue };
        match limit.checked_sub(worker.time()) {
            Some(rest) if !rest.is_zero() => left = rest,
            _ => {
                let place = worker.place();
                worker.leave();
                return Err(Slow { limit, place });
            }
        }
    }
}

impl Worker {
    fn this() -> Worker {
        // SAFETY: these ask for numbers of the calling thread.
        unsafe {
            let (thread, mut clock) = (libc::pthread_self(), 0);
            libc::pthread_getcpuclockid(thread, &mut clock);
            Worker {
                thread,
                number: libc::gettid(),
                clock,
            }
        }
    }

    /// Processor time of the thread so far.
    fn time(&self) -> Duration {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: writes the time; of a thread that has ended, none.
        unsafe { libc::clock_gettime(self.clock, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    /// The pass and the function that the thread is at. LLVM tells it once in a process.
    fn place(&self) -> Option<(String, String)> {
        static ASKED: AtomicBool = AtomicBool::new(false);
        if ASKED.swap(true, Ordering::SeqCst) {
            return None;
        }
        extern "C" fn told(_: c_int) {
            TOLD.store(true, Ordering::SeqCst);
        }
        static TOLD: AtomicBool = AtomicBool::new(false);
        // SAFETY: standard error is redirected to a file in memory and back. LLVM's handler, which is in
        // place when the signal comes, prints, puts the one before back, and sends the signal once more.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = told as extern "C" fn(c_int) as usize;
            let mut before = action;
            let (file, kept) = (
                libc::memfd_create(c"llvm".as_ptr(), libc::MFD_CLOEXEC),
                libc::fcntl(libc::STDERR_FILENO, libc::F_DUPFD_CLOEXEC, 0),
            );
            if file < 0 || kept < 0 {
                return None;
            }
            libc::sigaction(libc::SIGABRT, &action, &mut before);
            LLVMEnablePrettyStackTrace();
            libc::dup2(file, libc::STDERR_FILENO);
            libc::pthread_kill(self.thread, libc::SIGABRT);
            let step = Duration::from_millis(1);
            let steps = ANSWER.as_millis() / step.as_millis();
            (0..steps)
                .take_while(|_| !TOLD.load(Ordering::SeqCst))
                .for_each(|_| thread::sleep(step));
            libc::dup2(kept, libc::STDERR_FILENO);
            libc::close(kept);
            libc::sigaction(libc::SIGABRT, &before, std::ptr::null_mut());
            let (mut file, mut said) = (File::from_raw_fd(file), String::new());
            file.rewind()
                .and_then(|()| file.read_to_string(&mut said))
                .ok()?;
            parse(&said)
        }
    }

    /// Lets the thread have what processors have left, and the process end without destructors.
    fn leave(&self) {
        unsafe extern "C" {
            fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
        }
        extern "C" fn end(status: c_int, _: *mut c_void) {
            // SAFETY: ends the process.
            unsafe { libc::_exit(status) }
        }
        // SAFETY: the parameters are written by nobody; the function lives as long as the process.
        unsafe {
            let parameters: libc::sched_param = std::mem::zeroed();
            libc::sched_setscheduler(self.number, libc::SCHED_IDLE, &parameters);
            on_exit(end, std::ptr::null_mut());
        }
    }
}

/// The innermost pass and function of a stack that LLVM has printed.
fn parse(said: &str) -> Option<(String, String)> {
    let line = said
        .lines()
        .rev()
        .find(|line| line.contains("Running pass") && line.contains("function"))?;
    let (_, rest) = line.split_once("Running pass ")?;
    let quoted = |text: &str| Some(text.split(['"', '\'']).nth(1)?.to_string());
    let (pass, function) = rest.rsplit_once("function ")?;
    let pass = quoted(pass)?.split('<').next()?.to_string();
    Some((pass, quoted(function)?.trim_start_matches('@').to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let new = "Stack dump:\n0.\tRunning pass \"function<eager-inv>(a,b)\" on module \"m\"\n\
                   1.\tRunning pass \"loop-vectorize<no-interleave-forced-only;>\" on function \"mdh.f\"\n";
        let pair = |a: &str, b: &str| Some((a.to_string(), b.to_string()));
        assert_eq!(parse(new), pair("loop-vectorize", "mdh.f"));
        let old = "0.\tRunning pass 'Function Pass Manager' on module 'm'.\n\
                   1.\tRunning pass 'X86 DAG->DAG Instruction Selection' on function '@g'\n";
        assert_eq!(parse(old), pair("X86 DAG->DAG Instruction Selection", "g"));
        assert_eq!(parse("Stack dump:\n"), None);
    }
}
