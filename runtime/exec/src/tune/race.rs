//! Measuring all candidates of packages: a process runs them, and another one where that is lost.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use mdh_tuner::measure::FailureKind;

use super::package::TunePackage;
use super::results::{CandidateResult, ProgramResults, Reply, Results};
use super::worker::{Answer, Order};
use crate::{Error, Request, Result};

/// Time beside that of kernels: to start the driver, to assemble, to fill arrays.
const BESIDE: Duration = Duration::from_secs(60);

/// Options of a call.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Options of runs.
    pub request: Request,
    /// Limit on the time of all packages together.
    pub time: Option<Duration>,
    /// The file of results, written after each candidate.
    pub out: Option<PathBuf>,
}

/// Measures the candidates of packages, and tells each outcome.
pub fn measure(
    packages: &[(PathBuf, TunePackage)],
    wanted: &Wanted,
    tell: &mut dyn FnMut(&ProgramResults),
) -> Result<Results> {
    let started = Instant::now();
    let mut results = Results::default();
    for (number, (path, package)) in packages.iter().enumerate() {
        // What a package does not use is left to those after it.
        let left = wanted
            .time
            .map(|time| time.saturating_sub(started.elapsed()));
        let until = left.map(|left| started.elapsed() + left / (packages.len() - number) as u32);
        let manifest = &package.manifest;
        results.programs.push(ProgramResults {
            name: manifest.name.clone(),
            program: manifest.program.clone(),
            sizes: manifest.sizes.clone(),
            flops: manifest.common.flops,
            bytes: manifest.common.bytes,
            candidates: Vec::new(),
            left: manifest.candidates.len(),
        });
        let mut worker = None;
        for candidate in 0..manifest.candidates.len() {
            // The default is always measured.
            if candidate > 0 && until.is_some_and(|until| started.elapsed() > until) {
                break;
            }
            let best = results.programs[number].best();
            let best_ms = match best.map(|best| &best.outcome) {
                Some(Reply::Measured { samples_ms, .. }) => samples_ms.clone(),
                _ => Vec::new(),
            };
            let order = Order { candidate, best_ms };
            let answer = ask(&mut worker, path, &order, &wanted.request)?;
            if let Some((code, message)) = answer.end {
                return Err(Error { code, message });
            }
            results.gpu = answer.gpu.or(results.gpu);
            let own = &mut results.programs[number];
            own.left -= 1;
            let candidate = &manifest.candidates[candidate];
            own.candidates.push(CandidateResult {
                number: order.candidate,
                is_default: candidate.is_default,
                configuration: candidate.configuration.clone(),
                schedules: candidate.schedules.clone(),
                estimate_ms: candidate.estimate_ms,
                at_s: started.elapsed().as_secs_f64(),
                outcome: answer.reply,
            });
            if let Some(out) = &wanted.out {
                results.write(out)?;
            }
        }
        tell(&results.programs[number]);
    }
    Ok(results)
}

/// Has a candidate measured, by a new process if there is none.
fn ask(
    worker: &mut Option<Worker>,
    path: &Path,
    order: &Order,
    request: &Request,
) -> Result<Answer> {
    let mut own = match worker.take() {
        Some(own) => own,
        None => Worker::start(path, request)?,
    };
    match own.ask(order, request.time_limit + BESIDE) {
        Ok(answer) => {
            if !answer.is_last {
                *worker = Some(own);
            }
            Ok(answer)
        }
        Err((kind, text)) => Ok(Answer {
            reply: Reply::Failed {
                kind: kind.name().to_string(),
                text,
            },
            gpu: None,
            is_last: true,
            end: None,
        }),
    }
}

/// A process that measures candidates of a package; it ends with this.
struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Worker {
    fn start(path: &Path, request: &Request) -> Result<Worker> {
        let failed =
            |error: std::io::Error| Error::input(format!("cannot start a process: {error}"));
        let own = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(own);
        command.arg("--tune-worker").arg(path);
        command.args(["--device", &request.device.to_string()]);
        command.args(["--rotate", &request.rotate.to_string()]);
        command.args(["--repeat", &request.repeat.to_string()]);
        command.args([
            "--time-limit",
            &request.time_limit.as_secs_f64().to_string(),
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (sender, answers) = channel();
        let orders = child.stdin.take();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(output).lines().map_while(|line| line.ok());
                lines.try_for_each(|line| sender.send(line))
            });
        }
        Ok(Worker {
            child,
            orders,
            answers,
        })
    }

    /// Asks, and waits for the answer; the kind of failure and its text if there is none.
    fn ask(
        &mut self,
        order: &Order,
        patience: Duration,
    ) -> std::result::Result<Answer, (FailureKind, String)> {
        let text = serde_json::to_string(order).unwrap_or_default() + "\n";
        if let Some(orders) = &mut self.orders {
            // Who has ended takes no orders: that is seen below.
            let _ = orders
                .write_all(text.as_bytes())
                .and_then(|()| orders.flush());
        }
        let crash = |text: String| (FailureKind::Crash, text);
        match self.answers.recv_timeout(patience) {
            Ok(line) => serde_json::from_str(&line)
                .map_err(|error| crash(format!("it answers '{line}': {error}"))),
            Err(RecvTimeoutError::Timeout) => Err((
                FailureKind::Hang,
                format!("no answer in {} s", patience.as_secs()),
            )),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait();
                let status = status.map_or_else(|e| e.to_string(), |status| status.to_string());
                Err(crash(format!("its process has ended: {status}")))
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Ends by itself where it can.
        self.orders = None;
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
