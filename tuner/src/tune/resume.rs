//! Evaluations of before, from which a search goes on.

use super::Run;
use crate::measure::{FailureKind, Outcome};
use crate::space::value::Configuration;

/// The most tries of a configuration that crashes, hangs, or takes too much memory, in all searches.
const TRIES: usize = 2;

/// An evaluation of before.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed {
    /// The configuration.
    pub configuration: Configuration,
    /// Its outcome.
    pub outcome: Outcome,
    /// The technique that proposed it then.
    pub technique: String,
    /// The number of times that it has failed so far for a reason that may have been of the moment.
    pub failures: usize,
}

impl Resumed {
    /// Returns whether it is measured once more: it has failed once, and may work now.
    fn is_tried_again(&self) -> bool {
        let failure = self.outcome.failure();
        failure.is_some_and(FailureKind::is_transient) && self.failures < TRIES
    }
}

impl Run<'_> {
    /// Takes over evaluations of before. Those of another space are left out.
    pub(super) fn resume(&mut self, evaluations: Vec<Resumed>) {
        for one in evaluations {
            let Some(candidate) = self.candidate(&one.configuration) else {
                continue;
            };
            if self.is_known(&candidate) {
                continue;
            }
            let is_open = one.is_tried_again();
            let number = self.note(&candidate, one.outcome, &one.technique);
            if is_open {
                self.open.insert(number);
            } else {
                self.make_known(&candidate, number);
            }
        }
        self.resumed = self.evaluations.len();
        self.since_better = 0;
        if self.resumed > 0 {
            self.pace.is_due();
        }
    }
}
