//! Child processes that work for a test: a crash, or work that does not end, is an answer too.
//!
//! A child is the test's own program, started again to run the one test that calls [`serve`].
//! What it says on standard error is kept in a file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mdh_process::Silence;
use serde::{Deserialize, Serialize};

use crate::stack;

/// Set for children.
const VARIABLE: &str = "MDH_TESTING_CHILD";

/// Time in which a child that hangs must say where.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A running child.
pub struct Worker {
    test: &'static str,
    /// Time limit from one answer to the next.
    pub timeout: Duration,
    /// Variables that the child's environment has beside this one's.
    pub environment: Vec<(&'static str, String)>,
    process: Option<mdh_process::Worker>,
    /// Standard error of all children.
    errors: File,
}

/// An answer of a child.
#[derive(Serialize, Deserialize)]
enum Said {
    /// The number of the thread that works, first of all.
    Thread(i32),
    /// Something about progress.
    Progress(String),
    /// The answer to the request.
    Answer(String),
}

/// Outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The child's answer, or its end.
    pub end: End,
    /// Its standard error meanwhile.
    pub errors: String,
}

/// The child's answer, or its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The last line.
    Answered(String),
    /// The process ended: by an exit code or a signal.
    Died(String),
    /// It did not answer in time, and was ended.
    Hung,
}

impl Worker {
    /// A child that runs `test` of this program; started with the first request.
    pub fn new(test: &'static str, timeout: Duration) -> Worker {
        Worker {
            test,
            timeout,
            environment: Vec::new(),
            process: None,
            errors: tempfile::tempfile().expect("a temporary file can be made"),
        }
    }

    /// Sends a line and waits for the answer that is not about progress; `progress` sees the
    /// others. The time is that between two answers.
    pub fn ask(&mut self, request: &str, progress: impl FnMut(&str)) -> Answer {
        let position = self.errors.metadata().map_or(0, |m| m.len());
        let end = match self.answer(request, progress) {
            Ok(answer) => End::Answered(answer),
            Err(Silence::Late(_)) => End::Hung,
            Err(silence) => End::Died(silence.to_string()),
        };
        let errors = self.errors_from(position);
        Answer { end, errors }
    }

    fn answer(&mut self, request: &str, mut progress: impl FnMut(&str)) -> Result<String, Silence> {
        if self.process.is_none() {
            self.process = Some(mdh_process::Worker::new(self.command()));
        }
        let process = self.process.as_mut().expect("it was made");
        process.start().expect("a test can be started again");
        process.send(&request)?;
        loop {
            match process.answer(self.timeout, &AtomicBool::new(false))? {
                // It prints where it is before it ends.
                Said::Thread(thread) => process.abort_when_late(thread, LAST_WORDS),
                Said::Progress(line) => progress(&line),
                Said::Answer(line) => return Ok(line),
            }
        }
    }

    /// The command that is this program, to run the test.
    fn command(&self) -> Command {
        let program = std::env::current_exe().expect("a test knows its program");
        let errors = self.errors.try_clone();
        let mut command = Command::new(program);
        command
            .args(["--exact", self.test, "--nocapture", "--test-threads", "1"])
            .envs(self.environment.iter().cloned())
            .env(VARIABLE, "1")
            .env_remove("RUST_BACKTRACE")
            .stderr(errors.expect("a file has more than one handle"));
        command
    }

    /// Standard error from a position of the file on.
    fn errors_from(&mut self, position: u64) -> String {
        let mut bytes = Vec::new();
        let read = self
            .errors
            .seek(SeekFrom::Start(position))
            .and_then(|_| self.errors.read_to_end(&mut bytes));
        match read {
            Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("(what it said cannot be read: {error})"),
        }
    }

    /// Ends the child; the next request starts another one.
    pub fn restart(&mut self) {
        self.process = None;
    }
}

/// Returns whether this process is a child.
pub fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Sends a line about progress.
pub fn report(line: &str) {
    send(&Said::Progress(line.to_string()));
}

fn send(said: &Said) {
    // Without a parent there is nobody to tell.
    let _ = mdh_process::say(said);
}

/// Answers requests until there are no more. Panics, signals and LLVM's fatal errors end the
/// process, as they do in `mdh`; signals print the stack.
pub fn serve(mut answer: impl FnMut(&str) -> String + Send + 'static) {
    // A thread of our own, with the stack of a main thread.
    let serve = move || {
        mdh_compiler::error::run(|| {
            // In the place of the handlers that a command has.
            stack::print_on_signals();
            // SAFETY: asks for a number.
            send(&Said::Thread(unsafe { libc::gettid() }));
            while let Ok(Some(request)) = mdh_process::next::<String>() {
                send(&Said::Answer(answer(&request)));
            }
            Ok(())
        });
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(serve);
    let _ = thread.expect("a thread can be started").join();
}
