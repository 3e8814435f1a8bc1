//! A contestant: a process that answers requests.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::idle;
use super::protocol::{Answer, Request};
use mdh_compiler::error::{Error, Kind, Result};

/// Time between two looks at the user's interruption.
const GLANCE: Duration = Duration::from_millis(50);

/// A process that is asked to do things. It ends when this is dropped.
pub struct Contestant {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
    lost: bool,
}

/// Reason for which there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Silence {
    /// It took too long.
    Late,
    /// The process has ended, or says what nobody understands.
    Dead(String),
    /// The process has ended for want of memory.
    NoMemory(String),
    /// The user has interrupted.
    GivenUp,
}

impl Contestant {
    /// Starts a process.
    pub fn start(mut command: Command) -> Result<Contestant> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |what: &str| Error::input(format!("cannot start '{program}': {what}"));
        let child = command.spawn();
        let mut child = child.map_err(|error| failed(&error.to_string()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no streams"));
        };
        let (sender, answers) = channel();
        let read = move || {
            for line in BufReader::new(stdout)
                .lines()
                .map_while(std::io::Result::ok)
            {
                if sender.send(line).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("answers".to_string())
            .spawn(read)
            .map_err(|error| failed(&error.to_string()))?;
        Ok(Contestant {
            child,
            stdin,
            answers,
            lost: false,
        })
    }

    /// Starts a process that an interrupt from the terminal does not reach. It ends with the thread
    /// that starts it.
    pub fn start_apart(mut command: Command) -> Result<Contestant> {
        command.process_group(0);
        let end_with_parent = || {
            // SAFETY: asks for a signal at the end of the parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            Ok(())
        };
        // SAFETY: between fork and exec it makes a system call only.
        unsafe { command.pre_exec(end_with_parent) };
        Contestant::start(command)
    }

    /// Asks, and waits at most so long for the answer. After a silence it is lost: what it says
    /// later is no answer to what is asked then.
    pub fn ask(
        &mut self,
        request: &Request,
        at_most: Duration,
    ) -> std::result::Result<Answer, Silence> {
        self.ask_unless(request, at_most, &AtomicBool::new(false))
    }

    /// The same, until the user interrupts.
    pub fn ask_unless(
        &mut self,
        request: &Request,
        at_most: Duration,
        interrupted: &AtomicBool,
    ) -> std::result::Result<Answer, Silence> {
        let answer = self.exchange(request, at_most, interrupted);
        self.lost |= answer.is_err();
        answer
    }

    /// Returns whether it has left a request without an answer.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    fn exchange(
        &mut self,
        request: &Request,
        at_most: Duration,
        interrupted: &AtomicBool,
    ) -> std::result::Result<Answer, Silence> {
        let dead = |why: String| Silence::Dead(why);
        let mut text = serde_json::to_string(request).map_err(|error| dead(error.to_string()))?;
        text.push('\n');
        let sent = self
            .stdin
            .write_all(text.as_bytes())
            .and_then(|()| self.stdin.flush());
        if sent.is_err() {
            return Err(self.end());
        }
        let line = self.line(at_most, interrupted)?;
        serde_json::from_str(&line)
            .map_err(|error| dead(format!("it answers '{line}', which is no answer ({error})")))
    }

    /// The next line that it says.
    fn line(
        &mut self,
        at_most: Duration,
        interrupted: &AtomicBool,
    ) -> std::result::Result<String, Silence> {
        let start = Instant::now();
        loop {
            let left = at_most.saturating_sub(start.elapsed());
            match self.answers.recv_timeout(left.min(GLANCE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.end()),
                Err(RecvTimeoutError::Timeout) if interrupted.load(Ordering::Relaxed) => {
                    return Err(Silence::GivenUp);
                }
                Err(RecvTimeoutError::Timeout) if left <= GLANCE => return Err(Silence::Late),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits until its threads sleep, at most so long.
    pub fn rest(&self, at_most: Duration) {
        idle::wait(self.child.id(), at_most);
    }

    /// Describes the end of the process.
    fn end(&mut self) -> Silence {
        match self.child.wait() {
            Ok(status) => {
                let why = format!("its process has ended ({status})");
                match is_about_memory(status) {
                    true => Silence::NoMemory(why),
                    false => Silence::Dead(why),
                }
            }
            Err(error) => Silence::Dead(format!("its process is gone ({error})")),
        }
    }
}

/// Tells whether a process has ended for want of memory: by its own word, or by the system's, which
/// kills without having been asked to when it has none left.
fn is_about_memory(status: ExitStatus) -> bool {
    let code = i32::from(Kind::Resources.exit_code());
    status.code() == Some(code) || status.signal() == Some(libc::SIGKILL)
}

impl Drop for Contestant {
    fn drop(&mut self) {
        // It may be anywhere in its work, and it has nothing to tidy up.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Contestant {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Contestant::start(command).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn answers_and_silence() {
        let mut echo =
            shell("read a; echo '{\"times\": [1.5]}'; read b; echo what; read c; exit 3");
        let answer = echo.ask(&Request::Run { calls: 1 }, LONG).unwrap();
        assert!(matches!(answer, Answer::Times(times) if times == [1.5]));
        let wrong = echo.ask(&Request::Drop, LONG).unwrap_err();
        assert!(matches!(wrong, Silence::Dead(why) if why.starts_with("it answers 'what'")));
        let gone = echo.ask(&Request::Drop, LONG).unwrap_err();
        assert!(matches!(gone, Silence::Dead(why) if why.contains("exit status: 3")));
    }

    #[test]
    fn want_of_memory_and_interrupts() {
        for script in ["exit 4", "kill -KILL $$"] {
            let silence = shell(script).ask(&Request::Drop, LONG).unwrap_err();
            assert!(matches!(silence, Silence::NoMemory(_)), "{silence:?}");
        }
        let mut mute = shell("exec sleep 600");
        let interrupted = AtomicBool::new(true);
        let silence = mute.ask_unless(&Request::Drop, LONG, &interrupted);
        assert_eq!(silence.unwrap_err(), Silence::GivenUp);
        assert!(mute.is_lost());
    }

    #[test]
    fn nobody_is_waited_for_without_end() {
        let mut mute = shell("exec sleep 600");
        let late = mute
            .ask(&Request::Drop, Duration::from_millis(20))
            .unwrap_err();
        assert_eq!(late, Silence::Late);
    }
}
