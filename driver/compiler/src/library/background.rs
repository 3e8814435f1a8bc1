//! The compiler in a process that has other work: on a thread of its own, for one program at a time, with what it says
//! as text.
//!
//! The thread has the stack that nested programs need, and a panic on it is a [bug](Error::bug) that is reported.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result, collected, payload_text};
use crate::nesting::STACK_BYTES;

/// The compiler tells of one program at a time.
static COMPILING: Mutex<()> = Mutex::new(());

/// The process whose threads compile, and how many of them do: a child that is forked meanwhile has what they have
/// locked, and not them.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Work that has begun. One thread waits for it at a time.
pub struct Work<T>(Mutex<Receiver<Answer<T>>>);

/// Result of some work, and warnings and notes.
pub type Answer<T> = (Result<T>, String);

impl<T: Send + 'static> Work<T> {
    /// Begins work on a thread.
    ///
    /// # Errors
    /// If there is no memory for the thread, or the process was forked while another one worked.
    pub fn begin(action: impl FnOnce() -> Result<T> + Send + 'static) -> Result<Work<T>> {
        if !count() {
            return Err(Error::input(
                "found a process that was forked while another thread compiled a program, expected one that was \
                 forked while none did, or started by 'spawn': it has that thread's locks",
            ));
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name("mdh-compile".to_string())
            .stack_size(STACK_BYTES);
        let work = move || {
            let answer = alone(action);
            THREADS.fetch_sub(1, Ordering::SeqCst);
            let _ = sender.send(answer);
        };
        if thread.spawn(work).is_err() {
            THREADS.fetch_sub(1, Ordering::SeqCst);
            return Err(Error::no_memory(STACK_BYTES));
        }
        Ok(Work(Mutex::new(receiver)))
    }

    /// Waits for its answer, so long at most; none if there is none by then. Work that nobody waits for goes on to its
    /// end.
    pub fn wait(&self, patience: Duration) -> Option<Answer<T>> {
        let receiver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match receiver.recv_timeout(patience) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(lost()),
        }
    }

    /// Waits for its answer.
    pub fn end(self) -> Answer<T> {
        let receiver = self.0.into_inner();
        let receiver = receiver.unwrap_or_else(PoisonError::into_inner);
        receiver.recv().unwrap_or_else(|_| lost())
    }
}

fn lost<T>() -> Answer<T> {
    let message = "the compiler's thread has ended without an answer";
    (Err(Error::bug(message)), String::new())
}

/// Counts a thread that begins to work; false in a child that cannot, since it was forked while one did.
fn count() -> bool {
    let (process, before) = (std::process::id(), PROCESS.load(Ordering::SeqCst));
    if before != process {
        if before != 0 && THREADS.load(Ordering::SeqCst) > 0 {
            return false;
        }
        PROCESS.store(process, Ordering::SeqCst);
    }
    THREADS.fetch_add(1, Ordering::SeqCst);
    true
}

/// Runs work while no other one runs.
fn alone<T>(action: impl FnOnce() -> Result<T>) -> Answer<T> {
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    collected(|| {
        let done = catch_unwind(AssertUnwindSafe(action));
        done.unwrap_or_else(|panic| Err(Error::bug(payload_text(&*panic))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, say};

    #[test]
    fn what_is_said_comes_with_the_answer() {
        let work = Work::begin(|| {
            say("warning: slow\n");
            Ok(3)
        });
        let (done, said) = work.unwrap().end();
        assert_eq!(done, Ok(3));
        assert!(said.contains("warning: slow\n"), "{said}");
    }

    #[test]
    fn a_panic_is_a_bug() {
        let (failed, _) = Work::<()>::begin(|| panic!("it broke")).unwrap().end();
        let error = failed.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Bug, "it broke")
        );
    }

    #[test]
    fn who_waits_gets_nothing_before_the_end() {
        let (sender, receiver) = mpsc::channel();
        let work = Work::begin(move || Ok(receiver.recv().is_ok())).unwrap();
        assert!(work.wait(Duration::from_millis(1)).is_none());
        sender.send(()).unwrap();
        assert_eq!(work.end().0, Ok(true));
    }
}
