//! Compiled code that fails: a message and an exit code instead of a bare signal.
//!
//! Integer division by zero raises a signal that cannot be turned into a value without
//! unwinding through code that has no unwind tables. While compiled code [runs](running), such
//! signals write one line to standard error and end the process; otherwise they do what they
//! always did. A failed `cf.assert` ends the process in the same way with its own text.
//!
//! | what | exit code |
//! |---|---|
//! | integer division by zero, a failed assertion | [`PROGRAM_FAILED`] |
//! | an access outside memory, an illegal instruction, an overflowed stack | [`MEMORY_FAULT`] |

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The exit code when the program itself is at fault, for these inputs.
pub const PROGRAM_FAILED: i32 = 1;

/// The exit code when the compiled code touched what is not its own. With range checks on, that
/// is our bug.
pub const MEMORY_FAULT: i32 = 70;

/// How many threads are inside [`running`].
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A signal that is caught, what is said and how the process ends.
struct Fault {
    signal: i32,
    message: &'static str,
    code: i32,
}

static FAULTS: [Fault; 4] = [
    Fault {
        signal: libc::SIGFPE,
        message: "\nerror: the compiled program divided an integer by zero (or the smallest \
                  integer by -1)\n",
        code: PROGRAM_FAILED,
    },
    Fault {
        signal: libc::SIGSEGV,
        message: "\nerror: the compiled program accessed memory that is not its own, or \
                  recursed too deeply; unless range checks were switched off, this is a bug in \
                  mdh\n",
        code: MEMORY_FAULT,
    },
    Fault {
        signal: libc::SIGBUS,
        message: "\nerror: the compiled program accessed memory that does not exist; unless \
                  range checks were switched off, this is a bug in mdh\n",
        code: MEMORY_FAULT,
    },
    Fault {
        signal: libc::SIGILL,
        message: "\nerror: the compiled program reached an instruction that stops it; this is a \
                  bug in mdh\n",
        code: MEMORY_FAULT,
    },
];

/// What each signal did before.
struct Previous([MaybeUninit<libc::sigaction>; FAULTS.len()]);

static mut PREVIOUS: Previous = Previous([const { MaybeUninit::zeroed() }; FAULTS.len()]);

/// Runs `body`, in which compiled code is called.
pub fn running<T>(body: impl FnOnce() -> T) -> T {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    install();
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _leave = Leave;
    body()
}

/// Catches the signals, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (i, fault) in FAULTS.iter().enumerate() {
            // SAFETY: the handler only does what a signal handler may; the old actions are
            // written before any new handler can read them, and only here.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = handle as extern "C" fn(i32) as usize;
                // The stack may be what is broken: use the one std set up for this.
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                let previous = &raw mut PREVIOUS.0[i];
                libc::sigaction(fault.signal, &action, previous.cast());
            }
        }
    });
}

/// The handler. Async-signal-safe: an atomic, `write`, `_exit`, `sigaction`.
extern "C" fn handle(signal: i32) {
    for (i, fault) in FAULTS.iter().enumerate() {
        if fault.signal != signal {
            continue;
        }
        // SAFETY: all three are async-signal-safe; `PREVIOUS` was written by `install`.
        unsafe {
            if RUNNING.load(Ordering::SeqCst) > 0 {
                libc::write(2, fault.message.as_ptr().cast(), fault.message.len());
                libc::_exit(fault.code);
            }
            // Not ours: back to the old handler, and the instruction faults again.
            let previous = &raw const PREVIOUS.0[i];
            libc::sigaction(signal, previous.cast(), ptr::null_mut());
        }
    }
}
