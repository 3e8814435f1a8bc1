//! Failures of compiled code: a status and a message for the caller.
//!
//! A check that fails cannot return: it stands in the middle of a loop, on any thread. It unwinds
//! instead, as a Rust panic does, through compiled code (whose frames have nothing to clean up,
//! but unwind tables) up to [`crate::call`], on a worker first to [`Outcome::catch`], from where the
//! loop that waits for it goes on unwinding. What the call has [allocated](crate::memory) goes.
//!
//! A failure outside of a call, in code that is called in some other way, prints its message and
//! aborts the process: there is nobody to tell.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::memory;

/// Status of a call, for C. The numbers are the exit codes of `mdh run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// `MDH_DONE`
    Done = 0,
    /// `MDH_FAILED`: wrong arguments, or the program fails for these.
    Failed = 1,
    /// `MDH_NO_MEMORY`
    NoMemory = 4,
    /// A GPU is not there, or failed: C functions, which launch nothing, never say so.
    Device = 5,
}

/// Failure of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Status for C.
    pub status: Status,
    /// The message, as a line without its end.
    pub message: String,
}

impl Failure {
    /// [`Status::Failed`].
    pub fn new(message: impl Into<String>) -> Failure {
        Failure {
            status: Status::Failed,
            message: message.into(),
        }
    }
}

thread_local! {
    /// Text of this thread's last failed assertion: several may fail at the same time.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
    /// Text of this thread's last call that failed.
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
    /// Number of places on this thread's stack that catch failures.
    static CATCHING: Cell<usize> = const { Cell::new(0) };
}

/// Runs code that may fail. What it allocated and did not release is released then.
pub fn catch(code: impl FnOnce()) -> Result<(), Failure> {
    caught(code).map_err(|payload| match payload.downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(other) => resume_unwind(other),
    })
}

fn caught(code: impl FnOnce()) -> Result<(), Box<dyn Any + Send>> {
    let mark = memory::mark();
    CATCHING.set(CATCHING.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(code));
    CATCHING.set(CATCHING.get() - 1);
    if done.is_err() {
        memory::release_since(mark);
    }
    done
}

/// Fails.
pub fn raise(failure: Failure) -> ! {
    if CATCHING.get() == 0 {
        eprintln!("{}", failure.message);
        std::process::abort();
    }
    resume_unwind(Box::new(failure))
}

/// Outcome of the parts of a parallel loop.
#[derive(Default)]
pub struct Outcome {
    has_failed: AtomicBool,
    /// Panic of the first part that failed.
    failure: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Outcome {
    /// Runs parts, unless some have failed already.
    pub fn catch(&self, parts: impl FnOnce()) {
        if self.has_failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(payload) = caught(parts) {
            self.has_failed.store(true, Ordering::Relaxed);
            let mut first = self.lock();
            first.get_or_insert(payload);
        }
    }

    /// Fails if a part did. Called when all have ended.
    pub fn pass_on(self) {
        if self.has_failed.load(Ordering::Relaxed)
            && let Some(payload) = self.lock().take()
        {
            resume_unwind(payload)
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        let locked = self.failure.lock();
        locked.unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Keeps a failure's message for [`mdh_error`].
pub fn report(failure: Failure) -> Status {
    let text = failure.message.replace('\0', "\\0");
    LAST.set(CString::new(text).ok());
    failure.status
}

/// Returns the message of the last call that failed on this thread; empty if none has. The text
/// stays until the thread's next call that fails, or its end.
#[unsafe(no_mangle)]
pub extern "C" fn mdh_error() -> *const c_char {
    LAST.with_borrow(|text| text.as_deref().unwrap_or_default().as_ptr())
}

/// Keeps the text of a failing assertion for [`mdh_stop`]. (LLVM code has `puts`.)
///
/// # Safety
/// `text` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdh_say(text: *const c_char) -> c_int {
    // SAFETY: by this function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    SAID.set(text.to_string_lossy().into_owned());
    0
}

/// Ends a call whose assertion failed. (LLVM code has `abort`.)
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_stop() -> ! {
    raise(Failure::new(said()))
}

/// Returns the text of a failed assertion on this thread. One that names its location says what it
/// is, too.
pub fn said() -> String {
    let said = SAID.take();
    match said.as_str() {
        "" => "error: the compiled program stopped itself".to_string(),
        _ if said.contains(": error: ") => said,
        _ => format!("error: {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said_after(text: &CStr) -> String {
        // SAFETY: a C string.
        unsafe { mdh_say(text.as_ptr()) };
        said()
    }

    #[test]
    fn assertions_are_errors() {
        assert_eq!(
            said_after(c"a.mlir:2:6: error: no"),
            "a.mlir:2:6: error: no"
        );
        assert_eq!(said_after(c"reads 9 of 5"), "error: reads 9 of 5");
        assert_eq!(
            said_after(c""),
            "error: the compiled program stopped itself"
        );
    }

    #[test]
    fn failures_are_caught_and_reported() {
        let wrong = Failure::new("too\0late");
        let caught = catch(|| raise(wrong.clone()));
        assert_eq!(caught, Err(wrong.clone()));
        assert_eq!(report(wrong), Status::Failed);
        // SAFETY: the text stays until the next failure.
        let text = unsafe { CStr::from_ptr(mdh_error()) };
        assert_eq!(text.to_str(), Ok("too\\0late"));
        assert_eq!(catch(|| {}), Ok(()));
    }

    #[test]
    fn the_first_failure_of_a_loop_counts_and_later_parts_are_left_out() {
        let caught = catch(|| {
            let outcome = Outcome::default();
            outcome.catch(|| {});
            outcome.catch(|| raise(Failure::new("first")));
            outcome.catch(|| raise(Failure::new("second")));
            outcome.pass_on();
        });
        assert_eq!(caught, Err(Failure::new("first")));
    }
}
