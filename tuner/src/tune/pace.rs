//! The pace of the machine, which changes during a search: its clock goes up and down, and others use
//! its memory. The default is measured now and then, and costs are compared as if all of them were
//! measured at the pace that it had first.

use std::time::Duration;

use super::Run;
use crate::measure::Measure;

/// The name of such measurements, in the place of a technique's.
pub(super) const PACE: &str = "pace";
/// Changes of the default's cost that are noise.
const NOISE: f64 = 0.03;
/// The share of the time that measuring the pace takes at most is one of so many.
const SHARE: u32 = 20;

/// The pace of a machine.
pub(super) struct Pace {
    /// The time between two measurements; none if costs do not depend on when they are measured.
    every: Option<Duration>,
    next: Duration,
    first: Option<f64>,
    /// The first cost of the default over its present one: above 1 where the machine has become faster.
    factor: f64,
    /// The number of measurements.
    pub(super) made: usize,
}

impl Pace {
    pub(super) fn new(every: Option<Duration>) -> Pace {
        Pace {
            every,
            next: every.unwrap_or_default(),
            first: None,
            factor: 1.0,
            made: 0,
        }
    }

    /// Returns whether costs depend on when they are measured.
    pub(super) fn is_kept(&self) -> bool {
        self.every.is_some()
    }

    /// Has it measured next: costs of before are of another time.
    pub(super) fn is_due(&mut self) {
        self.next = Duration::ZERO;
    }

    /// The factor of a cost that is measured now.
    pub(super) fn factor(&self) -> f64 {
        self.factor
    }

    /// Takes the default's cost.
    fn take(&mut self, cost: f64) {
        let first = *self.first.get_or_insert(cost);
        let factor = first / cost;
        if factor.is_finite() && factor > 0.0 && (factor / self.factor - 1.0).abs() > NOISE {
            self.factor = factor;
        }
    }
}

impl Run<'_> {
    /// Measures the default once more, if that is due.
    pub(super) fn keep_pace(&mut self, measure: &mut dyn Measure) {
        let (Some(every), Some(default)) = (self.pace.every, self.default) else {
            return;
        };
        let start = self.clock.now();
        if start < self.pace.next {
            return;
        }
        let made = self.evaluations.len();
        self.again(measure, &[default], PACE);
        self.pace.made += self.evaluations.len() - made;
        let end = self.clock.now();
        self.pace.next = end + every.max((end - start) * SHARE);
    }

    /// Takes the pace from an evaluation, if it is one of the default's.
    pub(super) fn note_pace(&mut self, number: usize) {
        let Some(default) = self.default.filter(|_| self.pace.every.is_some()) else {
            return;
        };
        let (own, default) = (&self.evaluations[number], &self.evaluations[default]);
        if own.configuration != default.configuration {
            return;
        }
        if let (Some(first), Some(cost)) = (default.outcome.cost(), own.outcome.cost()) {
            self.pace.first.get_or_insert(first);
            self.pace.take(cost);
        }
    }

    /// An evaluation's cost at the pace that the machine had first.
    pub(super) fn paced(&self, number: usize) -> Option<f64> {
        Some(self.evaluations[number].outcome.cost()? * self.paces[number])
    }
}
