//! Measuring schedules: processes that compile and check several at once, and run one at a time.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mdh_bench::conduct::Measurement;
use mdh_bench::contestant::{Contestant, Silence};
use mdh_bench::limits::Work;
use mdh_bench::protocol::{Answer, Request, Task};
use mdh_compiler::error::{Error, Result};
use mdh_tuner::measure::{Cost, FailureKind, Measure, Outcome, Race};
use mdh_tuner::racing::{Decision, decide};
use mdh_tuner::space::value::Configuration;

use crate::program::Program;

/// A turn has as many calls as fit into this, and at least one.
const TURN: Duration = Duration::from_millis(10);
/// The most calls of a turn.
const CALLS: f64 = 200.0;
/// Samples of a candidate that may win: medians of turns.
const SAMPLES: usize = 5;
/// Threads that spin longer than this do not sleep at all.
const RESTLESS: Duration = Duration::from_millis(200);

/// Measures the schedules of a program.
pub struct Processes<'p> {
    program: &'p Program,
    /// The configuration that stands for the model's choice.
    default: Option<Configuration>,
    /// The work of a run, as soon as something was compiled.
    work: Arc<OnceLock<Work>>,
    task: Task,
    folder: tempfile::TempDir,
    workers: Vec<Option<Contestant>>,
    patience: Duration,
}

impl<'p> Processes<'p> {
    /// So many processes for a program, none of which is waited for longer than `patience`.
    pub fn new(
        program: &'p Program,
        task: Task,
        count: usize,
        patience: Duration,
    ) -> Result<Processes<'p>> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|e| Error::of_system(format!("no temporary folder: {e}")))?;
        Ok(Processes {
            default: program.default(),
            work: Arc::default(),
            program,
            task,
            folder,
            workers: (0..count.max(1)).map(|_| None).collect(),
            patience,
        })
    }

    /// The work of a run, which is there as soon as something was compiled.
    pub fn work(&self) -> Arc<OnceLock<Work>> {
        self.work.clone()
    }

    /// The request to a process, which is started if it is not there, and whether it was. They are
    /// started on this thread, since they end with the one that starts them.
    fn ready(
        &mut self,
        worker: usize,
        configuration: &Configuration,
    ) -> std::result::Result<(Request, bool), Outcome> {
        let request = self.request(worker, configuration)?;
        let process = &mut self.workers[worker];
        let is_new = process.as_ref().is_none_or(Contestant::is_lost);
        if is_new {
            *process = Some(start().map_err(|error| bug(error.message()))?);
        }
        Ok((request, is_new))
    }

    fn file(&self, worker: usize) -> PathBuf {
        self.folder.path().join(format!("{worker}.json"))
    }

    /// The request to compile a configuration; a failure where it has no schedules.
    fn request(
        &self,
        worker: usize,
        configuration: &Configuration,
    ) -> std::result::Result<Request, Outcome> {
        // What the model chooses is compiled as it is without a schedule from here.
        if self.default.as_ref() == Some(configuration) {
            return Ok(Request::Schedule { file: None });
        }
        let rejected = |text: String| Outcome::failed(FailureKind::Rejected, text);
        let schedules = self.program.schedules(configuration);
        let schedules =
            schedules.ok_or_else(|| rejected("it is none of this program's".to_string()))?;
        let text = serde_json::to_string(&schedules).map_err(|e| rejected(e.to_string()))?;
        let path = self.file(worker);
        std::fs::write(&path, text).map_err(|e| rejected(format!("{}: {e}", path.display())))?;
        Ok(Request::Schedule {
            file: Some(path.display().to_string()),
        })
    }
}

impl Measure for Processes<'_> {
    fn measure(
        &mut self,
        batch: &[Configuration],
        race: &Race<'_>,
        tell: &mut dyn FnMut(usize, Outcome),
    ) {
        let count = self.workers.len();
        for (first, part) in batch.chunks(count).enumerate() {
            let requests: Vec<_> = (part.iter().enumerate())
                .map(|(worker, configuration)| self.ready(worker, configuration))
                .collect();
            let task = &self.task;
            let waiting = Waiting {
                patience: self.patience,
                interrupted: race.interrupted,
                work: &self.work,
            };
            // Compiled at once, then run with nothing beside.
            let found: Vec<Option<Outcome>> = std::thread::scope(|scope| {
                let started = self
                    .workers
                    .iter_mut()
                    .zip(requests)
                    .map(|(worker, request)| {
                        scope.spawn(move || match request {
                            Ok((request, is_new)) => {
                                let task = is_new.then_some(task);
                                compiled(worker, task, &request, waiting)
                            }
                            Err(outcome) => Some(outcome),
                        })
                    });
                let started: Vec<_> = started.collect();
                let joined = started.into_iter().map(|thread| thread.join());
                joined
                    .map(|found| found.unwrap_or_else(|_| Some(bug("a panic"))))
                    .collect()
            });
            for (worker, outcome) in found.into_iter().enumerate() {
                if race.is_interrupted() {
                    return;
                }
                let outcome =
                    outcome.unwrap_or_else(|| timed(&mut self.workers[worker], race, waiting));
                // What fails then may have failed for the interrupt.
                if race.is_interrupted() && outcome.cost().is_none() {
                    return;
                }
                tell(first * count + worker, outcome);
            }
        }
    }

    fn batch(&self) -> usize {
        self.workers.len()
    }
}

fn bug(text: &str) -> Outcome {
    Outcome::failed(FailureKind::Crash, text)
}

/// Limits of waiting for an answer, and the place of what one tells.
#[derive(Clone, Copy)]
struct Waiting<'w> {
    patience: Duration,
    interrupted: &'w AtomicBool,
    work: &'w OnceLock<Work>,
}

/// Has a process compile and check a candidate; the outcome if that fails. A new process prepares the
/// task first.
fn compiled(
    worker: &mut Option<Contestant>,
    task: Option<&Task>,
    request: &Request,
    waiting: Waiting<'_>,
) -> Option<Outcome> {
    if let Some(task) = task
        && let Some(failed) = asked(worker, &Request::Prepare(task.clone()), waiting)
    {
        *worker = None;
        return Some(failed);
    }
    asked(worker, request, waiting)
}

/// Asks a process to prepare or to compile; the outcome if that fails.
fn asked(
    worker: &mut Option<Contestant>,
    request: &Request,
    waiting: Waiting<'_>,
) -> Option<Outcome> {
    let process = worker.as_mut()?;
    match process.ask_unless(request, waiting.patience, waiting.interrupted) {
        Ok(Answer::Compiled(compiled)) => {
            waiting.work.get_or_init(|| compiled.work);
            None
        }
        Ok(Answer::Done {}) => None,
        Ok(Answer::Wrong(why)) => Some(Outcome::failed(FailureKind::WrongResult, why)),
        Ok(Answer::Unchecked(why)) => Some(Outcome::failed(FailureKind::Unchecked, why)),
        Ok(Answer::Failed(why)) => Some(Outcome::failed(FailureKind::Compilation, why)),
        Ok(Answer::No(why)) => Some(Outcome::failed(FailureKind::Memory, why)),
        Ok(other) => Some(bug(&format!("it answers {other:?}"))),
        Err(silence) => Some(lost(worker, silence, waiting.patience)),
    }
}

/// Runs a candidate that has been compiled, until it is clear that it cannot win, or all samples are
/// taken.
fn timed(worker: &mut Option<Contestant>, race: &Race, waiting: Waiting<'_>) -> Outcome {
    let patience = waiting.patience;
    let Some(process) = worker.as_mut() else {
        return bug("its process is gone");
    };
    let (mut samples, mut calls) = (Vec::new(), 1);
    let mut lost_race = false;
    // The first turn says how many calls fit into the others.
    for turn in 0..=SAMPLES {
        let run = Request::Run { calls };
        let times = match process.ask_unless(&run, patience, waiting.interrupted) {
            Ok(Answer::Times(times)) if !times.is_empty() => times,
            Ok(other) => return bug(&format!("it answers {other:?}")),
            Err(silence) => return lost(worker, silence, patience),
        };
        let ms = mdh_tuner::stats::Median::of(&times).value / 1e6;
        if turn == 0 {
            calls = (TURN.as_secs_f64() * 1e3 / ms.max(1e-6)).clamp(1.0, CALLS) as u32;
            // Long runs tell at once.
            if ms < TURN.as_secs_f64() * 1e3 {
                continue;
            }
        }
        samples.push(ms);
        // Twice the slowest turn of the best is no noise.
        let slowest = race.best.iter().copied().reduce(f64::max);
        lost_race = slowest.is_some_and(|slowest| ms > 2.0 * slowest)
            || decide(race.best, &samples, race.confidence) == Decision::Lost;
        if lost_race {
            break;
        }
    }
    let dropped = process.ask(&Request::Drop, patience);
    process.rest(RESTLESS);
    if dropped.is_err() {
        *worker = None;
    }
    Outcome::Measured(match lost_race {
        true => Cost::of_lost(samples),
        false => Cost::of(samples),
    })
}

/// The outcome of a process that does not answer; the next candidate gets another one.
fn lost(worker: &mut Option<Contestant>, silence: Silence, patience: Duration) -> Outcome {
    *worker = None;
    match silence {
        Silence::Late => Outcome::failed(
            FailureKind::Hang,
            format!("no answer in {} s", patience.as_secs()),
        ),
        Silence::Dead(why) => bug(&why),
        Silence::NoMemory(why) => Outcome::failed(FailureKind::Memory, why),
        // Nobody is told of it.
        Silence::GivenUp => bug("interrupted"),
    }
}

fn start() -> Result<Contestant> {
    let mut command = mdh_bench::worker(mdh_bench::schedules::OURS)?;
    command.stderr(std::process::Stdio::null());
    Contestant::start_apart(command)
}

/// The time for which nobody is waited any longer: as in a benchmark.
pub fn patience() -> Duration {
    Measurement::FULL.patience
}
