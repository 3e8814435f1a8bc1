//! A contestant: a process that answers requests.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::idle;
use super::protocol::{Answer, Request};
use mdh_compiler::error::{Error, Result};

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

    /// Asks, and waits at most so long for the answer. After a silence it is lost: what it says
    /// later is no answer to what is asked then.
    pub fn ask(
        &mut self,
        request: &Request,
        at_most: Duration,
    ) -> std::result::Result<Answer, Silence> {
        let answer = self.exchange(request, at_most);
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
    ) -> std::result::Result<Answer, Silence> {
        let dead = |why: String| Silence::Dead(why);
        let mut text = serde_json::to_string(request).map_err(|error| dead(error.to_string()))?;
        text.push('\n');
        let sent = self
            .stdin
            .write_all(text.as_bytes())
            .and_then(|()| self.stdin.flush());
        if sent.is_err() {
            return Err(dead(self.end()));
        }
        match self.answers.recv_timeout(at_most) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| {
                dead(format!("it answers '{line}', which is no answer ({error})"))
            }),
            Err(RecvTimeoutError::Timeout) => Err(Silence::Late),
            Err(RecvTimeoutError::Disconnected) => Err(dead(self.end())),
        }
    }

    /// Waits until its threads sleep, at most so long.
    pub fn rest(&self, at_most: Duration) {
        idle::wait(self.child.id(), at_most);
    }

    /// Describes the end of the process.
    fn end(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => format!("its process has ended ({status})"),
            Err(error) => format!("its process is gone ({error})"),
        }
    }
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
    fn nobody_is_waited_for_without_end() {
        let mut mute = shell("exec sleep 600");
        let late = mute
            .ask(&Request::Drop, Duration::from_millis(20))
            .unwrap_err();
        assert_eq!(late, Silence::Late);
    }
}
