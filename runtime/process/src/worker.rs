//! A process that answers requests, and can be started again when it has been lost.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Prefix of answers, so that nothing else that a process prints is taken for one.
pub(crate) const MARK: &str = "@@ ";

/// Time between two looks at the user's interruption.
const GLANCE: Duration = Duration::from_millis(50);
/// Time between two looks at whether a process has ended.
const TICK: Duration = Duration::from_millis(5);
/// Time in which a process that has closed its output must end.
const LAST: Duration = Duration::from_secs(10);

/// A process that is asked to do things. It ends when this is dropped.
pub struct Worker {
    command: Command,
    farewell: Duration,
    running: Option<Running>,
}

/// Reason for which there is no answer. The process has ended then, or was ended: what it says later
/// would be no answer to what is asked then.
#[derive(Debug, PartialEq, Eq)]
pub enum Silence {
    /// It took longer than this.
    Late(Duration),
    /// The process has ended, could not be started, or says what nobody understands.
    Dead(String),
    /// The process has ended for want of memory.
    NoMemory(String),
    /// The user has interrupted.
    GivenUp,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::Late(limit) => write!(f, "no answer within {:.0} s", limit.as_secs_f64()),
            Silence::Dead(why) | Silence::NoMemory(why) => f.write_str(why),
            Silence::GivenUp => f.write_str("interrupted"),
        }
    }
}

impl Worker {
    /// A process that is not started yet. Its standard input and output are for requests and answers.
    pub fn new(mut command: Command) -> Worker {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        crate::set_apart(&mut command);
        Worker {
            command,
            farewell: Duration::ZERO,
            running: None,
        }
    }

    /// The same, which has so long to end by itself, once its input has ended.
    pub fn with_farewell(mut self, farewell: Duration) -> Worker {
        self.farewell = farewell;
        self
    }

    /// Starts the process if it does not run; true if it was started. It ends with this thread.
    pub fn start(&mut self) -> io::Result<bool> {
        if self.running.is_some() {
            return Ok(false);
        }
        self.running = Some(Running::start(&mut self.command)?);
        Ok(true)
    }

    /// Tells whether it was started, and has left no request without an answer.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The number of the process, if it runs.
    pub fn id(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.child.id())
    }

    /// Has one of its threads aborted before it is ended for being late, so that it may say where it is,
    /// for which it has so long.
    pub fn abort_when_late(&mut self, thread: i32, patience: Duration) {
        if let Some(running) = &mut self.running {
            running.last_words = Some((thread, patience));
        }
    }

    /// Asks a process that runs, and waits at most so long for the answer.
    pub fn ask<Q: Serialize, A: DeserializeOwned>(
        &mut self,
        request: &Q,
        at_most: Duration,
    ) -> Result<A, Silence> {
        self.ask_unless(request, at_most, &AtomicBool::new(false))
    }

    /// The same, until the user interrupts.
    pub fn ask_unless<Q: Serialize, A: DeserializeOwned>(
        &mut self,
        request: &Q,
        at_most: Duration,
        interrupted: &AtomicBool,
    ) -> Result<A, Silence> {
        self.send(request)?;
        self.answer(at_most, interrupted)
    }

    /// Sends a request.
    pub fn send<Q: Serialize>(&mut self, request: &Q) -> Result<(), Silence> {
        let text = serde_json::to_string(request);
        let text = text.map_err(|error| Silence::Dead(error.to_string()))? + "\n";
        let running = self.running.as_mut().ok_or_else(not_started)?;
        let sent = running.input.write_all(text.as_bytes());
        match sent.and_then(|()| running.input.flush()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.lost(RecvTimeoutError::Disconnected, Duration::ZERO)),
        }
    }

    /// The next answer to what was sent.
    pub fn answer<A: DeserializeOwned>(
        &mut self,
        at_most: Duration,
        interrupted: &AtomicBool,
    ) -> Result<A, Silence> {
        let running = self.running.as_ref().ok_or_else(not_started)?;
        let start = Instant::now();
        let line = loop {
            let left = at_most.saturating_sub(start.elapsed());
            match running.answers.recv_timeout(left.min(GLANCE)) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                    self.end();
                    return Err(Silence::GivenUp);
                }
                Err(RecvTimeoutError::Timeout) if left > GLANCE => {}
                Err(error) => return Err(self.lost(error, at_most)),
            }
        };
        serde_json::from_str(&line).map_err(|error| {
            self.end();
            Silence::Dead(format!("it answers '{line}', which is no answer ({error})"))
        })
    }

    /// Ends the process, if it runs.
    pub fn end(&mut self) {
        if let Some(running) = self.running.take() {
            // Nobody wants to know any more.
            let _ = running.end(self.farewell);
        }
    }

    /// The reason for which a process that is late, or has closed its output, does not answer.
    fn lost(&mut self, error: RecvTimeoutError, waited: Duration) -> Silence {
        let Some(running) = self.running.take() else {
            return not_started();
        };
        if error == RecvTimeoutError::Timeout {
            running.abort();
            // It is late as it is.
            let _ = running.end(Duration::ZERO);
            return Silence::Late(waited);
        }
        match running.end(LAST) {
            Ok(status) => {
                let why = format!("its process has ended ({status})");
                match crate::is_about_memory(status) {
                    true => Silence::NoMemory(why),
                    false => Silence::Dead(why),
                }
            }
            Err(error) => Silence::Dead(format!("its process is gone ({error})")),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

fn not_started() -> Silence {
    Silence::Dead("its process is not there".to_string())
}

/// A process that runs.
struct Running {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    /// The thread that is aborted when it is late, and its time to say where it is.
    last_words: Option<(i32, Duration)>,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Running> {
        let mut child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy();
            io::Error::new(error.kind(), format!("cannot start '{program}': {error}"))
        })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no streams"));
        };
        let (sender, answers) = channel();
        let read = move || {
            let lines = BufReader::new(output).lines().map_while(io::Result::ok);
            for line in lines {
                if let Some((_, answer)) = line.split_once(MARK)
                    && sender.send(answer.to_string()).is_err()
                {
                    return;
                }
            }
        };
        thread::Builder::new().name("answers".into()).spawn(read)?;
        Ok(Running {
            child,
            input,
            answers,
            last_words: None,
        })
    }

    /// Aborts the thread that was named, and waits for the end of what it says.
    fn abort(&self) {
        if let Some((thread, patience)) = self.last_words {
            let process = self.child.id();
            // SAFETY: sends a signal to our own child, which has not been waited for.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGABRT) };
            wait(&self.child, patience);
        }
    }

    /// Closes its input, and ends it and its group after so long.
    fn end(self, farewell: Duration) -> io::Result<ExitStatus> {
        let Running {
            mut child, input, ..
        } = self;
        drop(input);
        wait(&child, farewell);
        crate::end_group(&mut child)
    }
}

/// Waits for the end of a child, at most so long.
fn wait(child: &Child, patience: Duration) {
    let start = Instant::now();
    let is_there = || matches!(crate::has_ended(child.id()), Ok(false));
    while start.elapsed() < patience && is_there() {
        thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Worker {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut worker = Worker::new(command);
        assert!(worker.start().unwrap());
        worker
    }

    fn ask(worker: &mut Worker, request: u32) -> Result<Vec<f64>, Silence> {
        worker.ask(&request, Duration::from_secs(60))
    }

    #[test]
    fn answers_and_silence() {
        let mut echo =
            shell("read a; echo noise; echo \"more @@ [$a.5]\"; read b; echo '@@ what'; read c");
        assert_eq!(ask(&mut echo, 1).unwrap(), [1.5]);
        assert!(!echo.start().unwrap());
        let wrong = ask(&mut echo, 2).unwrap_err();
        assert!(matches!(wrong, Silence::Dead(why) if why.starts_with("it answers 'what'")));
        assert!(!echo.is_running());
        let gone = ask(&mut echo, 3).unwrap_err();
        assert_eq!(gone.to_string(), "its process is not there");
        assert!(echo.start().unwrap());
        assert_eq!(ask(&mut echo, 7).unwrap(), [7.5]);
    }

    #[test]
    fn ends_and_want_of_memory() {
        let gone = ask(&mut shell("read a; exit 3"), 1).unwrap_err();
        assert_eq!(
            gone,
            Silence::Dead("its process has ended (exit status: 3)".to_string())
        );
        for script in ["read a; exit 4", "read a; kill -KILL $$"] {
            let silence = ask(&mut shell(script), 1).unwrap_err();
            assert!(matches!(silence, Silence::NoMemory(_)), "{silence:?}");
        }
    }

    #[test]
    fn nobody_is_waited_for_without_end() {
        let mut mute = shell("exec sleep 600");
        let interrupted = AtomicBool::new(true);
        let silence = mute.ask_unless::<_, ()>(&1, Duration::from_secs(60), &interrupted);
        assert_eq!(silence.unwrap_err(), Silence::GivenUp);
        assert!(!mute.is_running());
        mute.start().unwrap();
        let short = Duration::from_millis(20);
        let late = mute.ask::<_, ()>(&1, short).unwrap_err();
        assert_eq!(late, Silence::Late(short));
        assert!(!mute.is_running());
    }

    #[test]
    fn who_is_given_time_ends_by_itself_and_children_of_others_end_with_them() {
        let folder = std::env::temp_dir().join(format!("mdh-process-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("ended");
        let script = format!("echo '@@ 1'; cat > /dev/null; touch {}", file.display());
        for (farewell, is_ended) in [(Duration::ZERO, false), (Duration::from_secs(60), true)] {
            let mut worker = shell(&script).with_farewell(farewell);
            assert_eq!(
                worker.answer::<u32>(Duration::from_secs(60), &AtomicBool::new(false)),
                Ok(1)
            );
            worker.end();
            assert_eq!(file.exists(), is_ended);
        }
        let mut parent = shell("sleep 600 & echo @@ $!; wait");
        let child: u32 = parent
            .answer(Duration::from_secs(60), &AtomicBool::new(false))
            .unwrap();
        drop(parent);
        // Whoever has it now has its end to tell.
        let state = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let start = Instant::now();
        while !(state().is_empty() || state().contains(") Z")) {
            assert!(start.elapsed() < Duration::from_secs(60), "{}", state());
            thread::sleep(TICK);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
