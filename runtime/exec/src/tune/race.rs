//! Measuring all candidates of packages: a process runs them, and another one where that is lost.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mdh_process::{Silence, Worker};

use super::package::TunePackage;
use super::results::{CandidateResult, ProgramResults, Reply, Results};
use super::worker::{Answer, Order};
use crate::failure::FailureKind;
use crate::{Error, Request, Result};

/// Time beside that of kernels: to start the driver, to assemble, to fill arrays.
const BESIDE: Duration = Duration::from_secs(60);
/// Time for a process to end by itself, and its context of the GPU with it.
const FAREWELL: Duration = Duration::from_secs(2);

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
        let mut worker = worker(path, &wanted.request)?;
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
            let answer = ask(&mut worker, &order, &wanted.request)?;
            if let Some((code, message)) = answer.end {
                return Err(Error { code, message });
            }
            results.gpu = answer.gpu.or(results.gpu);
            let current = &mut results.programs[number];
            current.left -= 1;
            let candidate = &manifest.candidates[candidate];
            current.candidates.push(CandidateResult {
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
fn ask(worker: &mut Worker, order: &Order, request: &Request) -> Result<Answer> {
    let failed = |error: std::io::Error| Error::input(error.to_string());
    worker.start().map_err(failed)?;
    let answer = worker.ask(order, request.time_limit + BESIDE);
    if answer.as_ref().is_ok_and(|answer: &Answer| answer.is_last) {
        worker.end();
    }
    Ok(answer.unwrap_or_else(|silence| Answer {
        reply: Reply::Failed {
            kind: kind(&silence).name().to_string(),
            text: silence.to_string(),
        },
        gpu: None,
        is_last: true,
        end: None,
    }))
}

fn kind(silence: &Silence) -> FailureKind {
    match silence {
        Silence::Late(_) => FailureKind::Hang,
        Silence::NoMemory(_) => FailureKind::Memory,
        Silence::Dead(_) | Silence::GivenUp => FailureKind::Crash,
    }
}

/// The process that measures candidates of a package.
fn worker(path: &Path, request: &Request) -> Result<Worker> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|error| Error::input(format!("this program is not found: {error}")))?;
    let mut command = Command::new(program);
    command.arg("--tune-worker").arg(path);
    command.args(["--device", &request.device.to_string()]);
    command.args(["--rotate", &request.rotate.to_string()]);
    command.args(["--repeat", &request.repeat.to_string()]);
    let seconds = request.time_limit.as_secs_f64();
    command.args(["--time-limit", &seconds.to_string()]);
    Ok(Worker::new(command).with_farewell(FAREWELL))
}
