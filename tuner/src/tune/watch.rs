//! Observers of a search while it is made.

use std::time::Duration;

/// Observer of progress.
pub trait Watch {
    /// Is told after each evaluation, and when the best is about to be confirmed.
    fn stands(&mut self, standing: &Standing);
}

impl Watch for () {
    fn stands(&mut self, _: &Standing) {}
}

/// State of a search.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The cost of the best one so far, as the search compares it ([`Tuned::compared`](super::Tuned::compared)).
    pub best: Option<f64>,
    /// That of the default.
    pub default: Option<f64>,
    /// The number of evaluations made, resumed ones not included.
    pub evaluations: u64,
    /// Its part that comes next.
    pub phase: Phase,
}

/// Part of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Proposals are measured; so much of the time is left for the other part.
    Searching {
        /// The time that measuring the best once more is expected to take.
        confirmation: Duration,
    },
    /// The best is measured once more.
    Confirming,
}
