//! The loop: propose, measure, keep, learn, until a condition ends it. What is tried first is in `tune/candidate.rs`, the
//! usual end of a search of programs in `programs/search.rs`.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::abort_condition::{Abort, SearchState};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::measure::{FailureKind, Measure, Outcome, Race};
use crate::space::value::Configuration;
use crate::space::{Point, Rejections, Space};
use crate::technique::{CostModel, Known, Search, Technique};

mod candidate;
mod confirm;
mod pace;
mod watch;

pub use candidate::Resumed;
use candidate::{Candidate, Outside};
use confirm::CONFIRMED;
use pace::{PACE, Pace};
pub use watch::{Phase, Standing, Watch};

/// Points that a filter rejects without letting one pass, after which the search ends.
const MOST_REJECTED: usize = 100_000;

/// A search that is to be made.
pub struct Tuning<'t> {
    /// The space.
    pub space: &'t Space,
    /// The technique of search.
    pub technique: &'t mut dyn Technique,
    /// The measuring side.
    pub measure: &'t mut dyn Measure,
    /// The condition that ends it.
    pub abort: &'t Abort,
    /// The clock.
    pub clock: &'t dyn Clock,
    /// Set when the user interrupts: what is measured by then is kept.
    pub interrupted: &'t AtomicBool,
    /// Configurations that are measured before all others, in this order.
    pub seeds: Vec<Seed>,
    /// Evaluations of before: they are not made again, but for failures that may have been of the moment.
    pub resumed: Vec<Resumed>,
    /// Estimates for the technique.
    pub model: Option<&'t CostModel<'t>>,
    /// Confidence with which a candidate has lost before its measurement stops.
    pub confidence: f64,
    /// The most configurations that are measured once more in the end, without a race: whoever is
    /// the best of many may have been lucky. 0 leaves it at what was measured.
    pub confirmations: usize,
    /// The time from one measurement of the default to the next, so that costs are compared at one
    /// pace of the machine; none if they do not depend on when they are measured.
    pub pace: Option<Duration>,
    /// Keeper of evaluations.
    pub keep: &'t mut dyn Keep,
    /// Observer of progress.
    pub watch: &'t mut dyn Watch,
}

/// A configuration that is measured before all others.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// Its part in the search.
    pub role: Role,
    /// The configuration.
    pub configuration: Configuration,
}

/// Part of a seed in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The start that the user gave.
    Start,
    /// The one taken without tuning.
    Default,
    /// The same where it is none of the space's, of which it is taken if it is the best.
    Outside,
    /// The same where it may not be taken: it is there for comparison, and never the best.
    Reference,
    /// One that a model thinks well of.
    Model,
    /// The best of similar sizes; left out if it is none of this space's.
    Nearest,
}

impl Role {
    /// Its name, which stands in the place of the technique's.
    pub fn name(self) -> &'static str {
        match self {
            Role::Start => "start",
            Role::Default | Role::Outside | Role::Reference => "default",
            Role::Model => "model",
            Role::Nearest => "nearest sizes",
        }
    }
}

/// An evaluation that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Its number, from 0, resumed ones included.
    pub number: usize,
    /// The configuration.
    pub configuration: Configuration,
    /// Its outcome.
    pub outcome: Outcome,
    /// The technique that proposed it, or the role of a seed.
    pub technique: String,
    /// The time from the start of the search to its outcome.
    pub at: Duration,
}

/// Keeper of evaluations, a database say. Each is kept before the next is made.
pub trait Keep {
    /// Keeps an evaluation. If it cannot, the search ends.
    fn keep(&mut self, evaluation: &Evaluation) -> Result<()>;

    /// Keeps that this one, which is kept already, is the best in the end.
    fn choose(&mut self, _best: &Evaluation) -> Result<()> {
        Ok(())
    }
}

impl Keep for () {
    fn keep(&mut self, _: &Evaluation) -> Result<()> {
        Ok(())
    }
}

/// Reason for the end of a search.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// This condition holds.
    Reached(Abort),
    /// There is nothing more to try.
    Exhausted,
    /// The filters reject everything.
    Filtered,
    /// The user has interrupted.
    Interrupted,
    /// An evaluation could not be kept; those before it are.
    NotKept(Error),
    /// Nothing can be measured any more, whatever the configuration is.
    Broken(Error),
}

impl StopReason {
    /// The error that has ended it, if it was one.
    pub fn error(&self) -> Option<&Error> {
        match self {
            StopReason::NotKept(error) | StopReason::Broken(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Reached(abort) => abort.fmt(f),
            StopReason::Exhausted => f.write_str("there is nothing more to try"),
            StopReason::Filtered => {
                write!(
                    f,
                    "the filters rejected {MOST_REJECTED} configurations in a row"
                )
            }
            StopReason::Interrupted => f.write_str("interrupted"),
            StopReason::NotKept(error) => {
                write!(f, "an evaluation was not kept: {}", error.message())
            }
            StopReason::Broken(error) => write!(f, "nothing can be measured: {}", error.message()),
        }
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuned {
    /// All evaluations, in order, those of before first.
    pub evaluations: Vec<Evaluation>,
    /// The number of those of before.
    pub resumed: usize,
    /// The one of least cost.
    pub best: Option<usize>,
    /// The default.
    pub default: Option<usize>,
    /// The factor by which each cost is compared, for the pace of the machine; 1 where there is none.
    pub paces: Vec<f64>,
    /// Reason for the end.
    pub stop: StopReason,
    /// Counts of what filters rejected, if there are any.
    pub rejections: Option<Rejections>,
    /// The time that it took.
    pub elapsed: Duration,
    /// The part of it in which the best was measured once more.
    pub confirmation: Duration,
}

impl Tuned {
    /// The evaluation of least cost.
    pub fn best(&self) -> Option<&Evaluation> {
        self.best.map(|best| &self.evaluations[best])
    }

    /// The cost of the evaluation of that number as the search compares it: at the pace that the
    /// machine had at the start.
    pub fn compared(&self, number: usize) -> Option<f64> {
        let pace = self.paces.get(number).unwrap_or(&1.0);
        Some(self.evaluations[number].outcome.cost()? * pace)
    }

    /// The number of evaluations that were made once more, for the machine's pace or in the end.
    pub fn repeated(&self) -> usize {
        let made = self.evaluations[self.resumed..].iter();
        made.filter(|e| is_repeated(&e.technique)).count()
    }

    /// The number of evaluations that the search has made: neither those of before nor any once more.
    pub fn searched(&self) -> usize {
        self.evaluations.len() - self.resumed - self.repeated()
    }

    /// The technique that proposed what an evaluation has measured, which may have been measured before.
    pub fn proposed_by<'t>(&'t self, evaluation: &'t Evaluation) -> &'t str {
        let mut evaluations = self.evaluations.iter();
        let first = evaluations.find(|other| other.configuration == evaluation.configuration);
        &first.unwrap_or(evaluation).technique
    }

    /// The evaluation of the default.
    pub fn default(&self) -> Option<&Evaluation> {
        self.default.map(|default| &self.evaluations[default])
    }
}

/// Makes a search.
pub fn tune(tuning: Tuning<'_>) -> Result<Tuned> {
    let mut run = Run {
        space: tuning.space,
        abort: tuning.abort,
        interrupted: tuning.interrupted,
        model: tuning.model,
        confidence: tuning.confidence,
        confirmations: tuning.confirmations,
        keep: tuning.keep,
        watch: tuning.watch,
        clock: tuning.clock,
        known: Known::default(),
        pace: Pace::new(tuning.pace),
        evaluations: Vec::new(),
        paces: Vec::new(),
        took: Vec::new(),
        resumed: 0,
        open: HashSet::new(),
        best: None,
        default: None,
        start: None,
        outside: None,
        since_better: 0,
        rejected: 0,
        failure: None,
        is_confirming: false,
    };
    let seeds = run.seeds(tuning.seeds)?;
    run.resume(tuning.resumed);
    let stop = match run.measure_seeds(tuning.measure, seeds) {
        Some(stop) => stop,
        None => run.search(tuning.technique, tuning.measure),
    };
    let searched = run.clock.now();
    let stop = run.choose(tuning.measure, stop);
    let rejections = run.space.rejections();
    Ok(Tuned {
        resumed: run.resumed,
        best: run.best,
        default: run.default,
        stop,
        rejections,
        elapsed: run.clock.now(),
        confirmation: run.clock.now().saturating_sub(searched),
        evaluations: run.evaluations,
        paces: run.paces,
    })
}

/// Returns whether what has that in the place of a technique's name was measured before.
fn is_repeated(name: &str) -> bool {
    [CONFIRMED, PACE].contains(&name)
}

/// Returns whether that name stands for who proposes configurations: neither for the default nor for what is
/// measured once more.
pub(crate) fn is_proposal(name: &str) -> bool {
    name != Role::Default.name() && !is_repeated(name)
}

/// A search that is being made.
struct Run<'t> {
    space: &'t Space,
    abort: &'t Abort,
    interrupted: &'t AtomicBool,
    model: Option<&'t CostModel<'t>>,
    confidence: f64,
    confirmations: usize,
    keep: &'t mut dyn Keep,
    watch: &'t mut dyn Watch,
    clock: &'t dyn Clock,
    known: Known,
    pace: Pace,
    evaluations: Vec<Evaluation>,
    /// The factor of the cost of each where it is compared.
    paces: Vec<f64>,
    /// The time that each took, of its batch.
    took: Vec<Duration>,
    resumed: usize,
    /// Those of before that are made once more where they are proposed.
    open: HashSet<usize>,
    best: Option<usize>,
    default: Option<usize>,
    start: Option<usize>,
    /// The default, where it is none of the space's.
    outside: Option<Outside>,
    since_better: u64,
    /// Proposals that filters have rejected since one passed.
    rejected: usize,
    /// The end by an error.
    failure: Option<StopReason>,
    /// True once the search has ended.
    is_confirming: bool,
}

impl Run<'_> {
    /// Measures the seeds that are not known; the reason to end now, if there is one before the last. Those that are
    /// known have their roles in any case.
    fn measure_seeds(
        &mut self,
        measure: &mut dyn Measure,
        seeds: Vec<(Role, Candidate)>,
    ) -> Option<StopReason> {
        let mut stop = None;
        for (role, candidate) in seeds {
            if !self.is_known(&candidate) {
                stop = stop.or_else(|| self.stop());
                if stop.is_some() {
                    continue;
                }
                self.evaluate(measure, vec![candidate.clone()], role.name());
            }
            self.note_role(role, &candidate);
        }
        stop
    }

    /// Remembers which evaluation is the start's or the default's.
    fn note_role(&mut self, role: Role, candidate: &Candidate) {
        let configuration = self.configuration(candidate);
        let is_it = |evaluation: &Evaluation| evaluation.configuration == configuration;
        // The last one: before it may have failed.
        let number = self.evaluations.iter().rposition(is_it);
        match role {
            Role::Default | Role::Outside | Role::Reference => self.default = number,
            Role::Start => self.start = number,
            Role::Model | Role::Nearest => {}
        }
    }

    /// Reason to end now, if there is one.
    fn stop(&mut self) -> Option<StopReason> {
        if let Some(failure) = &self.failure {
            return Some(failure.clone());
        }
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(StopReason::Interrupted);
        }
        let cost = |at: usize| self.evaluations[at].outcome.cost();
        let first = || self.evaluations.iter().find_map(|e| e.outcome.cost());
        let state = SearchState {
            elapsed: self.clock.now() + self.confirmation(),
            evaluations: (self.evaluations.len() - self.resumed - self.pace.made) as u64,
            since_better: self.since_better,
            size: self.space.size(),
            best: self.best.and_then(cost),
            start: self.start.or(self.default).and_then(cost).or_else(first),
        };
        self.abort.reached(&state).map(StopReason::Reached)
    }

    /// Searches until something ends it.
    fn search(&mut self, technique: &mut dyn Technique, measure: &mut dyn Measure) -> StopReason {
        loop {
            if let Some(stop) = self.stop() {
                return stop;
            }
            if self.rejected >= MOST_REJECTED {
                return StopReason::Filtered;
            }
            let proposed = technique.propose(&self.view(), self.wanted(measure));
            if proposed.is_empty() {
                return StopReason::Exhausted;
            }
            let admitted = self.admitted(&proposed);
            if !admitted.is_empty() {
                self.keep_pace(measure);
                // That may have taken the last of the time.
                if let Some(stop) = self.stop() {
                    return stop;
                }
                let name = technique.chosen().to_string();
                let candidates = admitted.into_iter().map(Candidate::Of);
                self.evaluate(measure, candidates.collect(), &name);
            }
            let results: Vec<(Point, f64)> = proposed
                .into_iter()
                .filter_map(|point| self.known.cost(&point).map(|cost| (point, cost)))
                .collect();
            technique.learn(&self.view(), &results);
        }
    }

    /// The number of points that are proposed next: a batch, or what is left of the evaluations.
    fn wanted(&self, measure: &dyn Measure) -> usize {
        let made = (self.evaluations.len() - self.resumed - self.pace.made) as u64;
        let left = self.abort.most_evaluations();
        let left = left.map_or(u64::MAX, |most| most.saturating_sub(made));
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        measure.batch().min(left).max(1)
    }

    /// All that a technique sees.
    fn view(&self) -> Search<'_> {
        Search {
            space: self.space,
            known: &self.known,
            model: self.model,
        }
    }

    /// The points that the filters let pass. The others count as failures, but not as evaluations.
    fn admitted(&mut self, proposed: &[Point]) -> Vec<Point> {
        let mut admitted = Vec::new();
        for point in proposed {
            if self.space.admits(&self.space.configuration(point)) {
                admitted.push(point.clone());
                self.rejected = 0;
            } else {
                self.rejected += 1;
                self.known.add(point.clone(), f64::INFINITY);
            }
        }
        admitted
    }

    /// Measures candidates, and keeps each outcome as it comes.
    fn evaluate(&mut self, measure: &mut dyn Measure, candidates: Vec<Candidate>, name: &str) {
        let batch = candidates.iter().map(|one| self.configuration(one));
        let batch: Vec<Configuration> = batch.collect();
        let is_search = !is_repeated(name);
        let samples = match self.best.filter(|_| is_search) {
            Some(best) => self.samples_now(best),
            None => Vec::new(),
        };
        let (first, start) = (self.evaluations.len(), self.clock.now());
        let latest = self.abort.latest();
        let latest = latest.map(|latest| latest.saturating_sub(self.confirmation()));
        let race = Race {
            best: &samples,
            confidence: self.confidence,
            left: latest.map(|latest| latest.saturating_sub(start)),
            interrupted: self.interrupted,
        };
        let mut told = vec![false; candidates.len()];
        measure.measure(&batch, &race, &mut |n, outcome| {
            if told.get(n) == Some(&false) {
                told[n] = true;
                self.add(&candidates[n], outcome, name);
            }
        });
        let end = self.clock.now();
        self.took[first..].fill(end.saturating_sub(start) / candidates.len().max(1) as u32);
        if let Some(error) = measure.broken() {
            self.failure.get_or_insert(StopReason::Broken(error));
            return;
        }
        if !is_search || latest.is_some_and(|latest| end >= latest) || self.stop().is_some() {
            return;
        }
        for (candidate, _) in candidates.iter().zip(&told).filter(|(_, told)| !**told) {
            let text = "it was not measured, and nobody has interrupted: a bug in mdh";
            self.add(
                candidate,
                Outcome::failed(FailureKind::Rejected, text),
                name,
            );
        }
    }

    /// The samples that an evaluation would have at the present pace.
    fn samples_now(&self, number: usize) -> Vec<f64> {
        let factor = self.paces[number] / self.pace.factor();
        match &self.evaluations[number].outcome {
            Outcome::Measured(cost) => cost.samples.iter().map(|sample| sample * factor).collect(),
            Outcome::Failed(_) => Vec::new(),
        }
    }

    /// Adds an evaluation, keeps it, and tells of it.
    fn add(&mut self, candidate: &Candidate, outcome: Outcome, name: &str) {
        let number = self.note(candidate, outcome, name);
        self.make_known(candidate, number);
        let evaluation = &self.evaluations[number];
        // What cannot be kept ends the search, but is not forgotten.
        if let Err(error) = self.keep.keep(evaluation) {
            self.failure.get_or_insert(StopReason::NotKept(error));
        }
        self.tell();
    }

    /// Tells how the search stands.
    fn tell(&mut self) {
        let phase = match self.is_confirming {
            true => Phase::Confirming,
            false => Phase::Searching {
                confirmation: self.confirmation(),
            },
        };
        self.watch.stands(&Standing {
            best: self.best.and_then(|best| self.paced(best)),
            default: self.default.and_then(|default| self.paced(default)),
            evaluations: (self.evaluations.len() - self.resumed - self.pace.made) as u64,
            phase,
        });
    }

    /// Takes an evaluation of a candidate for the one by which it is known.
    fn make_known(&mut self, candidate: &Candidate, number: usize) {
        if let Candidate::Of(point) = candidate {
            let cost = self.paced(number).unwrap_or(f64::INFINITY);
            self.known.add(point.clone(), cost);
        }
    }

    /// Adds an evaluation, and returns its number.
    fn note(&mut self, candidate: &Candidate, outcome: Outcome, name: &str) -> usize {
        let outcome = match outcome {
            Outcome::Measured(cost) if !cost.value.is_finite() => {
                let text = format!("its cost is {}, expected a finite number", cost.value);
                Outcome::failed(FailureKind::Rejected, text)
            }
            outcome => outcome,
        };
        let number = self.evaluations.len();
        self.evaluations.push(Evaluation {
            number,
            configuration: self.configuration(candidate),
            outcome,
            technique: name.to_string(),
            at: self.clock.now(),
        });
        self.note_pace(number);
        self.paces.push(self.pace.factor());
        self.took.push(Duration::ZERO);
        let cost = self.paced(number);
        let may_be_best = self.may_be_best(&self.evaluations[number].configuration);
        let best = self.best.and_then(|best| self.paced(best));
        self.since_better += u64::from(name != PACE);
        if may_be_best && cost.is_some_and(|cost| best.is_none_or(|best| cost < best)) {
            self.best = Some(number);
            self.since_better = 0;
        }
        number
    }
}

#[cfg(test)]
mod tests;
