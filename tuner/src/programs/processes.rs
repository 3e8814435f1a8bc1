//! Measuring schedules: processes that compile and check several at once, and run one at a time.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use mdh_bench::conduct::Measurement;
use mdh_bench::limits::Work;
use mdh_bench::protocol::{Answer, Request, Task};
use mdh_compiler::error::{Result, say};
use mdh_exec::racing::{Decision, decide};
use mdh_process::{Silence, Worker};

use super::program::SearchedProgram;
use crate::alone::Alone;
use crate::error::Error;
use crate::measure::{Cost, FailureKind, Measure, Outcome, Race};
use crate::space::value::Configuration;

/// A turn has as many calls as fit into this, and at least one.
const TURN: Duration = Duration::from_millis(10);
/// The most calls of a turn.
const CALLS: f64 = 200.0;
/// Samples of a candidate that may win: medians of turns.
const SAMPLES: usize = 5;
/// Threads that spin longer than this do not sleep at all.
const RESTLESS: Duration = Duration::from_millis(200);
/// Times what is usual after which nobody is waited for any longer, and the least such time.
const SLOW: u32 = 20;
const LEAST: Duration = Duration::from_secs(10);

/// Measures the schedules of a program.
pub struct Processes<'p> {
    program: &'p SearchedProgram,
    /// The configuration that stands for the model's choice.
    default: Option<Configuration>,
    /// The work of a run, as soon as something was compiled.
    work: Arc<OnceLock<Work>>,
    task: Task,
    workers: Vec<Option<Worker>>,
    patience: Duration,
    /// The longest time that one has taken to be compiled and checked.
    usual: Option<Duration>,
    /// A process cannot be started.
    broken: Option<Error>,
}

impl<'p> Processes<'p> {
    /// So many processes for a program, none of which is waited for longer than `patience`.
    pub fn new(
        program: &'p SearchedProgram,
        task: Task,
        count: usize,
        patience: Duration,
    ) -> Processes<'p> {
        Processes {
            default: program.default(),
            work: Arc::default(),
            program,
            task,
            workers: (0..count.max(1)).map(|_| None).collect(),
            patience,
            usual: None,
            broken: None,
        }
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
        let request = self.request(configuration)?;
        let process = &mut self.workers[worker];
        let is_new = process.as_ref().is_none_or(|worker| !worker.is_running());
        if is_new {
            *process = match start() {
                Ok(started) => Some(started),
                Err(error) => {
                    self.broken = Some(Error::resources(error.message()));
                    return Err(bug(error.message()));
                }
            };
        }
        Ok((request, is_new))
    }

    /// The request to compile a configuration; a failure where it has no schedules.
    fn request(&self, configuration: &Configuration) -> std::result::Result<Request, Outcome> {
        // What the model chooses is compiled as it is without a schedule from here.
        if self.default.as_ref() == Some(configuration) {
            return Ok(Request::Schedule { schedules: None });
        }
        let rejected = |text: String| Outcome::failed(FailureKind::Rejected, text);
        let schedules = self.program.schedules(configuration);
        let schedules =
            schedules.ok_or_else(|| rejected("it is none of this program's".to_string()))?;
        let text = serde_json::to_string(&schedules).map_err(|e| rejected(e.to_string()))?;
        Ok(Request::Schedule {
            schedules: Some(text),
        })
    }

    /// Has each process compile and check one of a batch, all at once: the outcomes of those that fail.
    fn compile(&mut self, part: &[Configuration], waiting: Waiting<'_>) -> Vec<Option<Outcome>> {
        let requests: Vec<_> = (part.iter().enumerate())
            .map(|(worker, configuration)| self.ready(worker, configuration))
            .collect();
        let task = &self.task;
        let outcomes: Vec<(Option<Outcome>, Duration)> = std::thread::scope(|scope| {
            let workers = self.workers.iter_mut().zip(requests);
            let started = workers.map(|(worker, request)| {
                scope.spawn(move || match request {
                    Ok((request, is_new)) => {
                        let task = is_new.then_some(task);
                        compiled(worker, task, &request, waiting)
                    }
                    Err(outcome) => (Some(outcome), Duration::ZERO),
                })
            });
            let started: Vec<_> = started.collect();
            let joined = started.into_iter().map(|thread| thread.join());
            joined
                .map(|result| result.unwrap_or_else(|_| (Some(bug("a panic")), Duration::ZERO)))
                .collect()
        });
        let works = outcomes.iter().filter(|(failed, _)| failed.is_none());
        self.usual = works
            .map(|(_, took)| Some(*took))
            .fold(self.usual, Option::max);
        outcomes.into_iter().map(|(failed, _)| failed).collect()
    }
}

impl Measure for Processes<'_> {
    fn measure(
        &mut self,
        batch: &[Configuration],
        race: &Race<'_>,
        tell: &mut dyn FnMut(usize, Outcome),
    ) {
        let start = Instant::now();
        let mut told = |what: &str| say(&format!("note: {what}\n"));
        let Some(_alone) = Alone::wait(race, &mut told) else {
            return;
        };
        // What comes first is waited for.
        let left = race.left.filter(|_| self.usual.is_some());
        let until = left.map(|left| start + left);
        let is_over =
            || race.is_interrupted() || until.is_some_and(|until| Instant::now() >= until);
        let (count, work) = (self.workers.len(), self.work());
        for (first, part) in batch.chunks(count).enumerate() {
            let waiting = Waiting {
                patience: self.patience,
                usual: self.usual,
                until,
                interrupted: race.interrupted,
                work: &work,
            };
            // Compiled at once, then run with nothing beside.
            let outcomes = self.compile(part, waiting);
            for (worker, outcome) in outcomes.into_iter().enumerate() {
                if self.broken.is_some() || race.is_interrupted() {
                    return;
                }
                let outcome =
                    outcome.unwrap_or_else(|| timed(&mut self.workers[worker], race, waiting));
                // What fails then may have failed for the interrupt, or for the end of the time.
                if is_over() && outcome.cost().is_none() {
                    self.workers.iter_mut().for_each(|worker| *worker = None);
                    return;
                }
                tell(first * count + worker, outcome);
            }
        }
    }

    fn broken(&self) -> Option<Error> {
        self.broken.clone()
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
    /// The time that what comes first may take.
    patience: Duration,
    /// The time that compiling and checking others took, if any were.
    usual: Option<Duration>,
    /// The end of the search.
    until: Option<Instant>,
    interrupted: &'w AtomicBool,
    work: &'w OnceLock<Work>,
}

impl Waiting<'_> {
    /// The time after which nobody is waited for, where this is usual.
    fn limit(&self, usual: Option<Duration>) -> Duration {
        let slow = usual.map(|usual| usual.saturating_mul(SLOW).max(LEAST));
        let most = slow.map_or(self.patience, |slow| slow.min(self.patience));
        let left = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        left.map_or(most, |left| left.min(most))
    }
}

/// Has a process compile and check a candidate: the outcome if that fails, and the time that it took. A new process
/// prepares the task first.
fn compiled(
    worker: &mut Option<Worker>,
    task: Option<&Task>,
    request: &Request,
    waiting: Waiting<'_>,
) -> (Option<Outcome>, Duration) {
    if let Some(task) = task
        && let Some(failed) = asked(worker, &Request::Prepare(task.clone()), None, waiting)
    {
        *worker = None;
        return (Some(failed), Duration::ZERO);
    }
    let start = Instant::now();
    (
        asked(worker, request, waiting.usual, waiting),
        start.elapsed(),
    )
}

/// Asks a process to prepare or to compile; the outcome if that fails.
fn asked(
    worker: &mut Option<Worker>,
    request: &Request,
    usual: Option<Duration>,
    waiting: Waiting<'_>,
) -> Option<Outcome> {
    let process = worker.as_mut()?;
    let limit = waiting.limit(usual);
    match process.ask_unless(request, limit, waiting.interrupted) {
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
        Err(silence) => Some(lost(worker, silence)),
    }
}

/// Runs a candidate that has been compiled, until it is clear that it cannot win, or all samples are
/// taken.
fn timed(worker: &mut Option<Worker>, race: &Race, waiting: Waiting<'_>) -> Outcome {
    let Some(process) = worker.as_mut() else {
        return bug("its process is gone");
    };
    let (mut samples, mut calls) = (Vec::new(), 1);
    let mut lost_race = false;
    // Twice the slowest turn of the best is no noise.
    let slowest = race.best.iter().copied().reduce(f64::max);
    let mut usual = slowest;
    // The first turn says how many calls fit into the others.
    for turn in 0..=SAMPLES {
        let run = Request::Run { calls };
        let total = usual.map(|ms| Duration::from_secs_f64(f64::from(calls) * ms / 1e3));
        let limit = waiting.limit(total);
        let times = match process.ask_unless(&run, limit, waiting.interrupted) {
            Ok(Answer::Times(times)) if !times.is_empty() => times,
            Ok(other) => return bug(&format!("it answers {other:?}")),
            Err(silence) => return lost(worker, silence),
        };
        let ms = mdh_exec::stats::Median::new(&times).value / 1e6;
        usual = Some(ms);
        if turn == 0 {
            calls = (TURN.as_secs_f64() * 1e3 / ms.max(1e-6)).clamp(1.0, CALLS) as u32;
            // Long runs tell at once.
            if ms < TURN.as_secs_f64() * 1e3 {
                continue;
            }
        }
        samples.push(ms);
        lost_race = slowest.is_some_and(|slowest| ms > 2.0 * slowest)
            || decide(race.best, &samples, race.confidence) == Decision::Lost;
        if lost_race {
            break;
        }
    }
    let dropped = process.ask::<_, Answer>(&Request::Drop, waiting.patience.min(LEAST));
    mdh_bench::idle::rest(process, RESTLESS);
    if dropped.is_err() {
        *worker = None;
    }
    Outcome::Measured(match lost_race {
        true => Cost::of_lost(samples),
        false => Cost::new(samples),
    })
}

/// The outcome of a process that does not answer; the next candidate gets another one.
fn lost(worker: &mut Option<Worker>, silence: Silence) -> Outcome {
    *worker = None;
    let text = silence.to_string();
    match silence {
        Silence::Late(_) => Outcome::failed(FailureKind::Hang, text),
        Silence::NoMemory(_) => Outcome::failed(FailureKind::Memory, text),
        // Nobody is told of an interrupt.
        Silence::Dead(_) | Silence::GivenUp => bug(&text),
    }
}

fn start() -> Result<Worker> {
    let mut command = mdh_bench::worker(mdh_bench::schedules::OURS)?;
    command.stderr(std::process::Stdio::null());
    mdh_bench::started(command)
}

/// The time for which nobody is waited any longer: as in a benchmark.
pub fn patience() -> Duration {
    Measurement::FULL.patience
}
