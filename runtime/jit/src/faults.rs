//! Signals that end a process: a message and an exit code instead of a bare signal.
//!
//! Integer division by zero raises a signal that cannot be turned into a value without
//! unwinding through code that has no unwind tables. While compiled code [runs](running), such
//! signals write one line to standard error and end the process; a failed `cf.assert` ends it in
//! the same way with its own text. While a file is [read](reading), a crash is the file's fault:
//! MLIR's parsers do not survive every damaged or endlessly nested file. At other times signals
//! do what they always did, unless the process [watches](watch) for them.
//!
//! | what | exit code |
//! |---|---|
//! | integer division by zero, endless recursion, a failed assertion, a file that crashes its reader | [`PROGRAM_FAILED`] |
//! | memory that is not there | [`NO_MEMORY`] |
//! | an access outside memory, an illegal instruction | [`MEMORY_FAULT`]; [`PROGRAM_FAILED`] for code that is [trusted](trust) |

use std::cell::Cell;
use std::ffi::c_void;
use std::io::IsTerminal;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use crate::exhaustion;

/// The exit code when the program itself is at fault, for these inputs.
pub const PROGRAM_FAILED: i32 = 1;

/// The exit code when the compiled code touched what is not its own. With range checks on, that
/// is our bug.
pub const MEMORY_FAULT: i32 = 70;

/// The exit code when there is not enough memory for what the compiled code takes.
pub const NO_MEMORY: i32 = 4;

/// Number of threads inside [`running`].
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Message for a crash due to the file being read; null if none is.
static READING: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());

/// True if a crash at any other time is reported too.
static WATCHING: AtomicBool = AtomicBool::new(false);

/// Message for a failure of trusted code.
static TRUSTED: OnceLock<&'static str> = OnceLock::new();

/// True once a thread has begun to end the process.
static ENDING: AtomicBool = AtomicBool::new(false);

/// True if standard error is a terminal, where a line may stand that is to be overwritten.
static TERMINAL: AtomicBool = AtomicBool::new(false);

/// A signal that is caught, what is said if compiled code raises it, and how the process ends.
struct Fault {
    signal: i32,
    message: &'static str,
    code: i32,
}

static FAULTS: [Fault; 5] = [
    Fault {
        signal: libc::SIGFPE,
        message: "error: the compiled program divided an integer by zero (or the smallest \
                  integer by -1)\n",
        code: PROGRAM_FAILED,
    },
    Fault {
        signal: libc::SIGSEGV,
        message: "error: the compiled program accessed memory that is not its own; unless range \
                  checks were switched off, this is a bug in mdh\n",
        code: MEMORY_FAULT,
    },
    Fault {
        signal: libc::SIGBUS,
        message: "error: the compiled program accessed memory that does not exist; unless \
                  range checks were switched off, this is a bug in mdh\n",
        code: MEMORY_FAULT,
    },
    Fault {
        signal: libc::SIGILL,
        message: "error: the compiled program reached an instruction that stops it; this is a \
                  bug in mdh\n",
        code: MEMORY_FAULT,
    },
    Fault {
        signal: libc::SIGABRT,
        message: "error: the compiled program made the process abort; this is a bug in mdh\n",
        code: MEMORY_FAULT,
    },
];

/// Message about compiled code that fills the stack: it calls itself too often.
const STACK_FULL: &str =
    "error: the compiled program calls itself too often: there is no room for one more call\n";

/// Distance beyond the end of the stack that a single call may reach.
const LARGEST_FRAME: usize = 1 << 20;

/// Message about trusted code that accesses memory that is not its own, before the advice.
const UNGUARDED: &str = "error: the compiled program accessed memory that is not its own, and \
                         nothing was checked\n";

/// Message about a crash outside of compiled code.
const CRASH: &str = "error: mdh crashed; this is a bug in mdh or in MLIR\n\
     help: report it with the command line, the input file and the output of `mdh --version`\n";

/// Previous action of each signal.
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
    enter_thread();
    RUNNING.fetch_add(1, Ordering::SeqCst);
    let _leave = Leave;
    body()
}

thread_local! {
    /// The lowest address of this thread's stack, 0 while unknown. The handler reads it on the
    /// thread that failed: no more than a memory access, as it has no destructor and is written
    /// before compiled code runs there.
    static STACK: Cell<usize> = const { Cell::new(0) };
}

/// Called by a thread before it runs compiled code: of an access outside memory there, it is
/// known then whether the stack was full.
fn enter_thread() {
    if STACK.get() == 0 {
        STACK.set(stack_end());
    }
}

fn stack_end() -> usize {
    // SAFETY: the attributes are initialised by the first call, read and destroyed.
    unsafe {
        let mut attributes: libc::pthread_attr_t = MaybeUninit::zeroed().assume_init();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return 0;
        }
        let (mut lowest, mut size) = (ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        lowest as usize
    }
}

/// Runs `body`, which reads a file of that name: if it crashes, that is reported as the file's
/// fault, with [`PROGRAM_FAILED`]. One thread reads at a time.
pub fn reading<T>(name: &str, body: impl FnOnce() -> T) -> T {
    install();
    // Leaked: a signal may come at any time.
    let message = Box::leak(Box::new(format!(
        "error: '{name}' cannot be read: MLIR's reader crashes on it: it is damaged, nested too deeply, \
         or has what MLIR itself fails on, such as a 'linalg.transpose' without axes; \
         mlir-opt FILE shows where\n"
    )));
    READING.store(message, Ordering::SeqCst);
    let read = body();
    READING.store(ptr::null_mut(), Ordering::SeqCst);
    read
}

/// Returns the message for a fatal error of LLVM due to the file that is being read.
pub fn reading_failed() -> Option<&'static str> {
    // SAFETY: null, or a message that `reading` leaked.
    unsafe { READING.load(Ordering::SeqCst).as_ref() }.map(String::as_str)
}

/// From now on compiled code is taken at its word that it stays within its memory: if it does not,
/// that is its own fault, and `help` says what to do. Memory that it has damaged may make the
/// process crash later.
pub fn trust(help: &'static str) {
    let _ = TRUSTED.set(help);
}

/// Returns the advice for a failure of trusted code; `None` if none runs.
pub fn trusted() -> Option<&'static str> {
    TRUSTED.get().copied()
}

/// Reports every crash of this process from now on as a bug, with [`MEMORY_FAULT`].
pub fn watch() {
    install();
    WATCHING.store(true, Ordering::SeqCst);
}

/// Catches the signals, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        mdhrt::pool::at_thread_start(enter_thread);
        TERMINAL.store(std::io::stderr().is_terminal(), Ordering::SeqCst);
        for (i, fault) in FAULTS.iter().enumerate() {
            // SAFETY: the handler only does what a signal handler may; the old actions are
            // written before any new handler can read them, and only here.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction =
                    handle as extern "C" fn(i32, *const libc::siginfo_t, *const c_void) as usize;
                // The stack may be what is broken: use the one std set up for this.
                action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO;
                libc::sigemptyset(&mut action.sa_mask);
                let previous = &raw mut PREVIOUS.0[i];
                libc::sigaction(fault.signal, &action, previous.cast());
            }
        }
    });
}

/// The handler. Async-signal-safe: atomics, `write`, `_exit`, `sigaction`.
extern "C" fn handle(signal: i32, information: *const libc::siginfo_t, context: *const c_void) {
    for (i, fault) in FAULTS.iter().enumerate() {
        if fault.signal != signal {
            continue;
        }
        if RUNNING.load(Ordering::SeqCst) > 0 {
            // SAFETY: the kernel passes what the signal is about.
            let address = unsafe { (*information).si_addr() } as usize;
            // SAFETY: the kernel passes what the thread was doing.
            let pointer = unsafe { stack_pointer(context) };
            if signal == libc::SIGSEGV && is_stack_full(STACK.get(), pointer, address) {
                end(STACK_FULL, PROGRAM_FAILED);
            }
            if signal != libc::SIGFPE {
                end_trusted();
            }
            end(fault.message, fault.code);
        }
        let is_reported = WATCHING.load(Ordering::SeqCst) || reading_failed().is_some();
        if is_reported && exhaustion::is_near() {
            exhaustion::end(0);
        }
        if let Some(message) = reading_failed() {
            end(message, PROGRAM_FAILED);
        }
        if WATCHING.load(Ordering::SeqCst) {
            end_trusted();
            end(CRASH, MEMORY_FAULT);
        }
        // Not ours: back to the old handler, and the instruction faults again.
        // SAFETY: async-signal-safe; `PREVIOUS` was written by `install`.
        unsafe {
            let previous = &raw const PREVIOUS.0[i];
            libc::sigaction(signal, previous.cast(), ptr::null_mut());
        }
    }
}

/// Returns whether an access to `address` failed because the stack, which ends at `lowest`, is full: it
/// lies there, and so does the stack pointer. Memory of others may lie next to a stack.
fn is_stack_full(lowest: usize, pointer: Option<usize>, address: usize) -> bool {
    let is_near = |place: usize| lowest.abs_diff(place) < LARGEST_FRAME;
    lowest != 0 && is_near(address) && pointer.is_none_or(is_near)
}

/// Returns the stack pointer at the time of the signal, if this processor is known.
///
/// # Safety
/// `context` is what the kernel passed to the handler.
unsafe fn stack_pointer(context: *const c_void) -> Option<usize> {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: by this function's contract.
    #[cfg(target_arch = "x86_64")]
    return Some(unsafe { (*context).uc_mcontext.gregs[libc::REG_RSP as usize] } as usize);
    // SAFETY: by this function's contract.
    #[cfg(target_arch = "aarch64")]
    return Some(unsafe { (*context).uc_mcontext.sp } as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return None;
}

/// Ends the process, if trusted code is what has failed.
fn end_trusted() {
    if let Some(help) = trusted() {
        begin_to_end();
        say(UNGUARDED);
        end_now(help, PROGRAM_FAILED);
    }
}

/// Prints one line and ends the process, from a signal handler too. If several threads fail at the
/// same time, the first one speaks.
pub(crate) fn end(message: &str, code: i32) -> ! {
    begin_to_end();
    end_now(message, code)
}

/// Returns on the thread that is to speak, on no other one.
fn begin_to_end() {
    // SAFETY: all are async-signal-safe.
    unsafe {
        while ENDING.swap(true, Ordering::SeqCst) {
            libc::pause();
        }
        if TERMINAL.load(Ordering::SeqCst) {
            // Over what shows progress, if anything does.
            libc::write(2, c"\r\x1b[K".as_ptr().cast(), 4);
        }
    }
}

fn say(message: &str) {
    // SAFETY: async-signal-safe, and the text is as long as it says.
    unsafe {
        libc::write(2, message.as_ptr().cast(), message.len());
    }
}

/// Prints one line and ends the process, whatever other threads do.
pub(crate) fn end_now(message: &str, code: i32) -> ! {
    say(message);
    // SAFETY: ends the process, async-signal-safe.
    unsafe { libc::_exit(code) }
}
