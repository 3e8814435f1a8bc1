//! Computations of a function whose schedules are known: what is explained.

use std::collections::BTreeSet;

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::Op;
use mdh_dialect::schedule;
use mdh_dialect::translate::{self, Depth};
use mdh_frontend::memory::Account;
use mdh_passes::simplify::lower_histograms;
use mdh_schedule::gpu::Gpu;
use mdh_schedule::{Choice, Parts, Schedule};

use super::inside::Inside;
use super::reasons;
use super::sizes::Given as Sizes;
use super::statements::Threads;
use crate::error::{Error, Result};

/// Further facts about the computations, and the source of schedules that the model does not
/// choose.
#[derive(Default)]
pub struct Given {
    /// The names at the positions of the program's computations, until they are found.
    pub positions: Vec<Option<String>>,
    /// The names of those that are made of what several evaluate.
    pub shared: BTreeSet<String>,
    /// The names of those that are no longer what the program has: schedules of these are for another computation.
    pub rewritten: BTreeSet<String>,
    /// A line about the versions that the program asks for, if it does.
    pub version: Option<String>,
    /// Accounts of the program's statements, if it is in the tensor language.
    pub accounts: Option<Vec<Account>>,
    /// The sizes of `--size`.
    pub sizes: Sizes,
    /// The GPU of `--device`.
    pub gpu: Option<Gpu>,
    /// Origin of the schedules of `--schedule` or `--tuned`.
    pub by: Option<String>,
    /// The schedules of the program that these have left.
    pub by_program: BTreeSet<String>,
}

impl Given {
    /// The position at which a computation stood in the program; `None` if the compiler made it.
    fn position(&mut self, name: &str) -> Option<usize> {
        let mut positions = self.positions.iter();
        let position = positions.position(|entry| entry.as_deref() == Some(name))?;
        self.positions[position] = None;
        Some(position)
    }

    /// Returns whether a computation becomes updates of bins, which kernels have not yet.
    pub fn is_updated(&self, op: Op) -> bool {
        self.gpu.is_none() && lower_histograms::is_histogram(op)
    }

    /// The origin of a schedule that the model did not choose.
    pub fn how(&self, schedule: &Schedule) -> String {
        match &self.by {
            Some(by) if !self.by_program.contains(&schedule.to_string()) => by.clone(),
            _ => "with the program".to_string(),
        }
    }
}

/// A computation of which all is known.
pub struct Explained<'c> {
    /// Its operation.
    pub op: Op<'c>,
    /// Its position for `--schedule`.
    pub position: Option<usize>,
    /// The computation, with the sizes that are given.
    pub known: Computation,
    /// Its own schedule.
    pub own: Option<Schedule>,
    /// The model's choice.
    pub choice: Option<Choice>,
}

impl<'c> Explained<'c> {
    /// Reads a computation for which the model has chosen, if it has no schedule of its own.
    pub fn new(op: Op<'c>, choice: Option<Choice>, given: &mut Given) -> Result<Explained<'c>> {
        let failed = |errors: Vec<String>| Error::input(errors.join("\n  "));
        let mut known = match translate::compute(op, Depth::Code) {
            Ok(computation) => computation,
            Err(_) => translate::compute(op, Depth::Signatures).map_err(failed)?,
        };
        given.sizes.fill(&mut known);
        Ok(Explained {
            op,
            position: given.position(&schedule::name(op)),
            known,
            own: schedule::read(op).map_err(failed)?,
            choice,
        })
    }

    /// Its schedule, whoever chose it.
    pub fn schedule(&self) -> Option<&Schedule> {
        let chosen = self.choice.as_ref().map(|choice| &choice.schedule);
        self.own.as_ref().or(chosen)
    }

    /// The cores that it is shared by, and why; those of the computation in whose tiles it is.
    pub fn threads(&self, all: &[Explained], given: &Given) -> Threads<'c> {
        let within = self.schedule().and_then(|own| own.compute_at.as_ref());
        let consumer = within.and_then(|at| {
            let mut candidates = all.iter();
            candidates.find(|one| schedule::name(one.op) == at.consumer)
        });
        let fused = consumer.unwrap_or(self);
        let cores = |schedule: &Schedule| {
            let core = schedule.layers.iter().find(|layer| layer.name == "core");
            let parts = core.into_iter().flat_map(|layer| layer.parts.values());
            let counts = parts.map(|parts| match parts {
                Parts::Fixed(count) => Some(*count),
                Parts::Derived => None,
            });
            counts.product::<Option<i64>>()
        };
        let choice = fused.choice.as_ref().filter(|_| fused.own.is_none());
        let reason = choice.and_then(|choice| reasons::about_cores(&choice.reasons));
        let chosen = fused.schedule().filter(|_| given.gpu.is_none());
        Threads {
            op: self.op,
            chosen: chosen.and_then(|schedule| Some((cores(schedule)?, reason.cloned()))),
        }
    }

    /// Returns the computations in its loops.
    pub fn inside(&self, all: &[Explained]) -> Inside {
        let name = schedule::name(self.op);
        let is_inside = |other: &&Explained| {
            let at = other.schedule().and_then(|own| own.compute_at.as_ref());
            at.is_some_and(|at| at.consumer == name)
        };
        let neighbours = all.iter().filter(is_inside);
        let neighbours: Vec<_> = neighbours.map(|one| (one.op, one.known.clone())).collect();
        Inside::new(self.op, &neighbours)
    }
}
