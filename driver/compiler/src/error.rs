//! Errors of a command, their exit codes, and their text.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | it worked |
//! | 1 | the input is wrong, or the program fails for this input (a division by zero, a failed range check); the message says where and why |
//! | 2 | the command line is wrong |
//! | 3 | a check failed: the result is not what the definition says, or a declared law does not hold |
//! | 4 | there is not enough memory, on a GPU too, or a size is beyond what can be addressed |
//! | 5 | there is no driver or no GPU, kernels are not for it, or it fails: a call of the driver, a limit, a kernel that does not end |
//! | 70 | a bug in mdh |
//! | 130 | interrupted (129, 143: hung up, terminated) |
//!
//! A reader that closes the pipe early (`mdh compile ... | head`) is no error.

use std::any::Any;
use std::fmt;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mdh_algebra::index::lex::nearest;
use mdh_jit::{Slow, exhaustion, faults};
use mdh_passes::llvm::prefix_functions;

use crate::progress;

/// The result of everything in the driver that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of a failure; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input is wrong, or the program fails for it.
    Input,
    /// The command line is wrong.
    Usage,
    /// A check failed.
    Check,
    /// There is not enough memory.
    Resources,
    /// A GPU is not there, is another one, or fails.
    Device,
    /// A bug in mdh.
    Bug,
    /// The user has interrupted, and was told so.
    Interrupted,
    /// Standard output was closed by its reader: not an error, but the end.
    OutputClosed,
}

impl ErrorKind {
    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::OutputClosed => 0,
            ErrorKind::Input => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Check => 3,
            ErrorKind::Resources => 4,
            ErrorKind::Device => 5,
            ErrorKind::Bug => 70,
            ErrorKind::Interrupted => 130,
        }
    }
}

/// A failure, with its text for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
}

impl Error {
    /// A failure of that kind. The message is a sentence without a full stop: found, expected,
    /// where.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            help: None,
        }
    }

    /// Wrong input.
    pub fn input(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Input, message)
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// A failed check.
    pub fn check(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Check, message)
    }

    /// Not enough memory.
    pub fn resources(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Resources, message)
    }

    /// An error: not enough memory for that many bytes.
    pub fn no_memory(needed: usize) -> Error {
        let error = mdh_arrays::Error::Memory {
            needed: needed as u64,
            available: mdh_jit::memory::available().unwrap_or_default(),
        };
        Error::resources(error.to_string()).help("give the process more (`ulimit -v`)")
    }

    /// Makes a bug report of an error of LLVM or the system, unless it is about memory.
    pub fn of_system(message: impl Into<String>) -> Error {
        let message = message.into();
        match is_about_memory(&message) {
            true => Error::resources(message),
            false => Error::bug(message),
        }
    }

    /// A bug in mdh.
    pub fn bug(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Bug, message)
    }

    /// Wrong input that MLIR's diagnostics have already explained: nothing more is printed.
    pub fn diagnosed() -> Error {
        Error::input("")
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }

    /// Puts a place, or what is done, before the message.
    pub fn at(mut self, place: impl fmt::Display) -> Error {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message, without advice.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text for a program that shows it in a way of its own: what was [said](collected), but for what is said of
    /// programs that are right, and the message. It does not begin with `error:`.
    pub fn with_said(&self, said: &str) -> String {
        let mut text = warnings(said);
        if !self.message.is_empty() {
            text.push_str(&self.to_string());
        }
        let text = text.trim_end();
        text.strip_prefix("error: ").unwrap_or(text).to_string()
    }

    /// Prints it to standard error, if there is anything to say.
    fn report(&self) {
        match (&self.help, self.message.is_empty()) {
            _ if self.kind == ErrorKind::OutputClosed => {}
            (_, false) => say(&format!("{self}\n")),
            (Some(help), true) => say(&format!("help: {help}\n")),
            (None, true) => {}
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Bug => f.write_str(&bug_text(&self.message))?,
            _ => write!(f, "error: {}", self.message)?,
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<mdh_jit::Error> for Error {
    fn from(error: mdh_jit::Error) -> Error {
        use mdh_jit::Error as Runtime;
        let text = error.to_string();
        match error {
            Runtime::Array(error) => error.into(),
            Runtime::Llvm { .. } => Error::of_system(text),
            Runtime::Slow(slow) => Error::bug(slow_text(&slow)).help(WAIT),
            Runtime::UnknownFunction { .. } | Runtime::ArgumentCount { .. } => Error::bug(text),
        }
    }
}

impl From<mdh_cuda::Error> for Error {
    fn from(error: mdh_cuda::Error) -> Error {
        let kind = match error.kind {
            mdh_cuda::CudaErrorKind::Memory => ErrorKind::Resources,
            _ => ErrorKind::Device,
        };
        Error::new(kind, error.message)
    }
}

impl From<mdhrt::failure::Failure> for Error {
    fn from(failure: mdhrt::failure::Failure) -> Error {
        use mdhrt::failure::Status;
        let kind = match failure.status {
            Status::Done | Status::Failed => ErrorKind::Input,
            Status::NoMemory => ErrorKind::Resources,
            Status::Device => ErrorKind::Device,
        };
        Error::new(kind, failure.message)
    }
}

impl From<mdh_arrays::Error> for Error {
    fn from(error: mdh_arrays::Error) -> Error {
        use mdh_arrays::Error as Array;
        match error {
            Array::Memory { .. } | Array::Size { .. } => Error::resources(error.to_string()).help(
                "smaller sizes need less: dynamic ones ('?') are set by `--size DIM=N`, others \
                 stand in the program",
            ),
            Array::Bytes { .. } => Error::bug(error.to_string()),
        }
    }
}

/// The text that is said while it is [collected].
static COLLECTED: Mutex<Option<String>> = Mutex::new(None);

/// Writes to standard error, or to what is [collected]. If that cannot be written there is nobody to tell.
pub fn say(text: &str) {
    match lock_collected().as_mut() {
        Some(said) => said.push_str(text),
        None => {
            let _ = progress::aside(|| std::io::stderr().write_all(text.as_bytes()));
        }
    }
}

fn lock_collected() -> MutexGuard<'static, Option<String>> {
    COLLECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs something, and returns all that is said meanwhile in this process: for a program that shows it in a way of its
/// own. One thread collects at a time.
pub fn collected<T>(action: impl FnOnce() -> T) -> (T, String) {
    struct Stop;
    impl Drop for Stop {
        fn drop(&mut self) {
            lock_collected().take();
        }
    }
    *lock_collected() = Some(String::new());
    let _stop = Stop;
    let result = action();
    (result, lock_collected().take().unwrap_or_default())
}

/// The warnings and errors of what was said of a program, without notes.
pub fn warnings(said: &str) -> String {
    let told = said.lines().filter(|line| !line.starts_with("note: "));
    told.flat_map(|line| [line, "\n"]).collect()
}

/// Returns the text about a bug.
fn bug_text(message: &str) -> String {
    format!(
        "error: this is a bug in mdh, not in your input: {message}\n\
         help: report it with the command line, the input file and the output of `mdh --version`"
    )
}

/// Runs a command: reports its failure, if any, and gives the exit code. A panic, or LLVM giving
/// up, is reported as a bug and ends the process.
pub fn run(command: impl FnOnce() -> Result<()>) -> u8 {
    std::panic::set_hook(Box::new(on_panic));
    faults::watch();
    exhaustion::before_end(crate::output::discard_temporaries);
    mdh_jit::on_fatal_error(on_fatal_error);
    mdh_jit::on_slow(on_slow);
    // SAFETY: the function is there for as long as the process.
    unsafe { mdh_dialect::ffi::mdhOnBadAlloc(on_bad_allocation) };
    match command() {
        Ok(()) => 0,
        Err(error) => {
            error.report();
            error.kind.exit_code()
        }
    }
}

/// Returns whether a message of LLVM, of the system or of a linker says that there is no memory.
pub fn is_about_memory(message: &str) -> bool {
    let said = [
        "Cannot allocate memory",
        "Resource temporarily unavailable", // a thread that has no stack
        "ut of memory",
        "memory exhausted",
        "std::bad_alloc",
    ];
    said.iter().any(|part| message.contains(part))
}

/// LLVM gives up: a damaged file can make it, or memory that is not there; everything else is a
/// bug.
fn on_fatal_error(reason: &str) -> ! {
    if is_about_memory(reason) || exhaustion::is_near() {
        exhaustion::end(0);
    }
    if let Some(message) = faults::reading_failed() {
        say(message);
        exit(ErrorKind::Input);
    }
    end_with_bug(&format!("LLVM gave up: {reason}"))
}

/// LLVM does not come to an end, and has less to do the next time.
fn on_slow(slow: &Slow) {
    let text = slow_text(slow);
    say(&format!(
        "warning: {text}; it is compiled with less optimisation, and may run slower\nhelp: {WAIT}\n"
    ));
}

/// Advice where LLVM does not come to an end.
const WAIT: &str = "MDH_LLVM_SECONDS=600 waits so long; report the program, so that it is avoided";

/// Text about work that has not ended; functions have their names in the program.
fn slow_text(slow: &Slow) -> String {
    slow.to_string()
        .replace(&format!("'{}", prefix_functions::PREFIX), "'")
}

/// LLVM's own containers have no memory.
extern "C" fn on_bad_allocation() {
    exhaustion::end(0)
}

/// The panic hook. It ends the process, so that nothing unwinds into C++.
fn on_panic(panic: &PanicHookInfo<'_>) {
    let message = payload_text(panic.payload());
    if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
        exit(ErrorKind::OutputClosed);
    }
    let place = panic.location().map(|at| format!(" (at {at})"));
    end_with_bug(&format!("{message}{}", place.unwrap_or_default()))
}

/// The text of a panic.
pub fn payload_text(payload: &dyn Any) -> &str {
    match payload.downcast_ref::<String>() {
        Some(text) => text,
        None => payload
            .downcast_ref::<&str>()
            .unwrap_or(&"a panic without a message"),
    }
}

/// Reports a bug and ends the process.
fn end_with_bug(message: &str) -> ! {
    say(&format!("{}\n", bug_text(message)));
    crate::output::discard_temporaries();
    exit(ErrorKind::Bug)
}

/// Ends the process at once: without destructors, which would race with other threads.
fn exit(kind: ErrorKind) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(i32::from(kind.exit_code())) }
}

/// The name among those known that was probably meant, as advice.
pub fn did_you_mean<'n>(found: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let near = nearest(found, known);
    near.first().map(|name| format!("did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_documented_ones() {
        let kinds = [
            ErrorKind::OutputClosed,
            ErrorKind::Input,
            ErrorKind::Usage,
            ErrorKind::Check,
            ErrorKind::Resources,
            ErrorKind::Device,
            ErrorKind::Bug,
            ErrorKind::Interrupted,
        ];
        assert_eq!(kinds.map(ErrorKind::exit_code), [0, 1, 2, 3, 4, 5, 70, 130]);
        let program = faults::PROGRAM_FAILED;
        assert_eq!(program, i32::from(ErrorKind::Input.exit_code()));
        let fault = faults::MEMORY_FAULT;
        assert_eq!(fault, i32::from(ErrorKind::Bug.exit_code()));
    }

    #[test]
    fn messages() {
        let error = Error::input("no function 'f' in a.mlir").help("there are: g, h");
        insta::assert_snapshot!(error, @r"
        error: no function 'f' in a.mlir
        help: there are: g, h
        ");
        insta::assert_snapshot!(Error::bug("it broke"), @r"
        error: this is a bug in mdh, not in your input: it broke
        help: report it with the command line, the input file and the output of `mdh --version`
        ");
        let memory = mdh_arrays::Error::Memory {
            needed: 2048,
            available: 100,
        };
        insta::assert_snapshot!(Error::from(memory), @r"
        error: not enough memory: 2.0 KiB (2048 bytes) are needed, 100 bytes are available
        help: smaller sizes need less: dynamic ones ('?') are set by `--size DIM=N`, others stand in the program
        ");
    }

    #[test]
    fn an_error_with_what_was_said() {
        let said = "note: tuned\na.mlir:1:2: error: wrong\n";
        assert_eq!(
            Error::diagnosed().with_said(said),
            "a.mlir:1:2: error: wrong"
        );
        let error = Error::input("no function").help("there is g");
        assert_eq!(
            error.with_said("note: tuned\n"),
            "no function\nhelp: there is g"
        );
    }

    #[test]
    fn runtime_errors_have_their_kinds() {
        let size = mdh_arrays::Error::Size {
            shape: vec![1 << 62, 9],
            element: 4,
        };
        assert_eq!(Error::from(size).kind(), ErrorKind::Resources);
        let llvm = mdh_jit::Error::Llvm {
            doing: "x",
            message: String::new(),
        };
        assert_eq!(Error::from(llvm).kind(), ErrorKind::Bug);
    }
}
