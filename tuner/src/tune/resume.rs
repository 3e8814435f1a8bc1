//! Evaluations of before, from which a search goes on.

use super::Run;
use crate::measure::Outcome;
use crate::space::value::Configuration;

/// An evaluation of before.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed {
    /// The configuration.
    pub configuration: Configuration,
    /// Its outcome.
    pub outcome: Outcome,
    /// The technique that proposed it then.
    pub technique: String,
}

impl Run<'_> {
    /// Takes over evaluations of before. Those of another space are left out.
    pub(super) fn resume(&mut self, evaluations: Vec<Resumed>) {
        for one in evaluations {
            let Some(candidate) = self.candidate(&one.configuration) else {
                continue;
            };
            if !self.is_known(&candidate) {
                self.note(&candidate, one.outcome, &one.technique);
            }
        }
        self.resumed = self.evaluations.len();
        self.since_better = 0;
        if self.resumed > 0 {
            self.pace.is_due();
        }
    }
}
