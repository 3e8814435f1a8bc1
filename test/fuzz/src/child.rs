//! Child processes that work for a test: a crash, or work that does not end, is an answer too.
//!
//! A child is the test's own program, started again to run the one test that calls [`serve`].
//! Requests are lines on its standard input, answers lines on its standard output that start
//! with a mark; what it says on standard error is kept in a file.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::stack;

/// Prefix of answers, so that they are not taken for the test's own output.
const MARK: &str = "@@ ";
/// Set for children.
const VARIABLE: &str = "MDH_TESTING_CHILD";

/// Prefix of a child's first line, before the number of the thread that works.
const THREAD: &str = "thread ";
/// Time in which a child that hangs must say where.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A running child.
pub struct Worker {
    test: &'static str,
    /// Time limit from one answer to the next.
    pub timeout: Duration,
    /// Variables that the child's environment has beside this one's.
    pub environment: Vec<(&'static str, String)>,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    /// The thread that works.
    thread: i32,
    errors: File,
    /// Length of the file of errors when the last request was sent.
    position: u64,
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
        }
    }

    /// Sends a line and waits for the answer that is not about progress; `progress` sees the
    /// others, which start with `+`. The time is that between two answers.
    pub fn ask(&mut self, request: &str, mut progress: impl FnMut(&str)) -> Answer {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(self.test, &self.environment),
        };
        process.position = process.errors.metadata().map_or(0, |m| m.len());
        if writeln!(process.input, "{request}").is_err() {
            return process.died();
        }
        let mut deadline = Instant::now() + self.timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match process.answers.recv_timeout(left) {
                Ok(line) => match line.strip_prefix('+') {
                    Some(line) => {
                        match line.strip_prefix(THREAD) {
                            Some(thread) => process.thread = thread.parse().unwrap_or_default(),
                            None => progress(line),
                        }
                        deadline = Instant::now() + self.timeout;
                    }
                    None => {
                        let errors = process.errors();
                        self.process = Some(process);
                        return Answer {
                            end: End::Answered(line),
                            errors,
                        };
                    }
                },
                Err(RecvTimeoutError::Timeout) => return process.hung(),
                Err(RecvTimeoutError::Disconnected) => return process.died(),
            }
        }
    }

    /// Ends the child; the next request starts another one.
    pub fn restart(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.end();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.restart();
    }
}

impl Process {
    fn start(test: &str, environment: &[(&'static str, String)]) -> Process {
        let errors = tempfile::tempfile().expect("a temporary file can be made");
        let program = std::env::current_exe().expect("a test knows its program");
        let mut child = Command::new(program)
            .args(["--exact", test, "--nocapture", "--test-threads", "1"])
            .envs(environment.iter().cloned())
            .env(VARIABLE, "1")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone().expect("a file has more than one handle"))
            .spawn()
            .expect("a test can be started again");
        let input = child.stdin.take().expect("the input was asked for");
        let output = child.stdout.take().expect("the output was asked for");
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // What the test harness says may stand before it on the same line.
                if let Some((_, answer)) = line.split_once(MARK)
                    && sender.send(answer.to_string()).is_err()
                {
                    return;
                }
            }
        });
        Process {
            child,
            input,
            answers,
            thread: 0,
            errors,
            position: 0,
        }
    }

    fn errors(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self
            .errors
            .seek(SeekFrom::Start(self.position))
            .and_then(|_| self.errors.read_to_end(&mut bytes));
        match read {
            Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => format!("(what it said cannot be read: {error})"),
        }
    }

    fn died(mut self) -> Answer {
        let status = self.child.wait();
        Answer {
            end: End::Died(status.map_or_else(|e| e.to_string(), |s| s.to_string())),
            errors: self.errors(),
        }
    }

    fn hung(mut self) -> Answer {
        // It prints where it is before it ends.
        let (process, thread) = (self.child.id(), self.thread);
        // SAFETY: sends a signal to our own child, which has not been waited for.
        unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGABRT) };
        let patience = Instant::now() + LAST_WORDS;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.end();
        Answer {
            end: End::Hung,
            errors: self.errors(),
        }
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns whether this process is a child.
pub fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Sends a line about progress.
pub fn report(line: &str) {
    send(&format!("+{line}"));
}

fn send(line: &str) {
    let mut output = std::io::stdout().lock();
    // Without a parent there is nobody to tell.
    let _ = writeln!(output, "{MARK}{line}").and_then(|()| output.flush());
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
            report(&format!("{THREAD}{}", unsafe { libc::gettid() }));
            for line in std::io::stdin().lines().map_while(Result::ok) {
                send(&answer(&line));
            }
            Ok(())
        });
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(serve);
    let _ = thread.expect("a thread can be started").join();
}
