//! The configurations that a search measures, or knows from before: points of its space, and a default
//! outside of it.

use super::{Role, Run, Seed};
use crate::error::{Error, Result};
use crate::measure::{FailureKind, Outcome};
use crate::space::Point;
use crate::space::value::Configuration;

/// The most tries of a configuration that hangs, takes too much memory or cannot be checked, in all searches.
const TRIES: usize = 2;

/// A configuration that is measured.
#[derive(Clone)]
pub(super) enum Candidate {
    /// One of the space.
    Of(Point),
    /// The default that is none of the space's.
    Outside(Configuration),
}

/// A default that is none of the space's.
pub(super) struct Outside {
    configuration: Configuration,
    /// True if it is taken where it is the best.
    may_be_best: bool,
}

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
    /// A configuration of the space, or the default outside of it.
    pub(super) fn candidate(&self, configuration: &Configuration) -> Option<Candidate> {
        // What was kept may have its names in another order.
        let outside = self.outside.iter().map(|own| &own.configuration);
        let mut outside = outside.filter(|own| own.key() == configuration.key());
        match outside.next() {
            Some(own) => Some(Candidate::Outside(own.clone())),
            None => self.space.find(configuration).map(Candidate::Of),
        }
    }

    pub(super) fn configuration(&self, candidate: &Candidate) -> Configuration {
        match candidate {
            Candidate::Of(point) => self.space.configuration(point),
            Candidate::Outside(configuration) => configuration.clone(),
        }
    }

    pub(super) fn is_known(&self, candidate: &Candidate) -> bool {
        match candidate {
            Candidate::Of(point) => self.known.cost(point).is_some(),
            Candidate::Outside(own) => {
                let mut closed = self.evaluations.iter();
                closed.any(|e| e.configuration == *own && !self.open.contains(&e.number))
            }
        }
    }

    /// The candidates of the seeds.
    pub(super) fn seeds(&mut self, seeds: Vec<Seed>) -> Result<Vec<(Role, Candidate)>> {
        let mut candidates = Vec::new();
        for seed in seeds {
            match self.space.find(&seed.configuration) {
                Some(point) => candidates.push((seed.role, Candidate::Of(point))),
                None if seed.role == Role::Nearest => {}
                None if matches!(seed.role, Role::Outside | Role::Reference) => {
                    self.outside = Some(Outside {
                        configuration: seed.configuration.clone(),
                        may_be_best: seed.role == Role::Outside,
                    });
                    candidates.push((seed.role, Candidate::Outside(seed.configuration)));
                }
                None => {
                    let (role, configuration) = (seed.role.name(), seed.configuration);
                    let message =
                        format!("the {role} configuration is none of the space: {configuration}");
                    return Err(Error::input(message));
                }
            }
        }
        Ok(candidates)
    }

    /// Returns whether a configuration that was measured is taken where it is the best.
    pub(super) fn may_be_best(&self, configuration: &Configuration) -> bool {
        let mut outside = self.outside.iter();
        outside.all(|own| own.may_be_best || own.configuration != *configuration)
    }

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
