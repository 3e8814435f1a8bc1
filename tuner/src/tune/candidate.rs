//! The configurations that a search measures: points of its space, and the reference.

use super::{Role, Run, Seed};
use crate::error::{Error, Result};
use crate::space::Point;
use crate::space::value::Configuration;

/// A configuration that is measured.
#[derive(Clone)]
pub(super) enum Candidate {
    /// One of the space.
    Of(Point),
    /// The reference.
    Reference(Configuration),
}

impl Run<'_> {
    /// A configuration of the space, or the reference.
    pub(super) fn candidate(&self, configuration: &Configuration) -> Option<Candidate> {
        // What was kept may have its names in another order.
        let reference = self.reference.iter();
        let mut reference = reference.filter(|own| own.key() == configuration.key());
        match reference.next() {
            Some(own) => Some(Candidate::Reference(own.clone())),
            None => self.space.find(configuration).ok().map(Candidate::Of),
        }
    }

    pub(super) fn configuration(&self, candidate: &Candidate) -> Configuration {
        match candidate {
            Candidate::Of(point) => self.space.configuration(point),
            Candidate::Reference(configuration) => configuration.clone(),
        }
    }

    pub(super) fn is_known(&self, candidate: &Candidate) -> bool {
        match candidate {
            Candidate::Of(point) => self.known.cost(point).is_some(),
            Candidate::Reference(own) => self.evaluations.iter().any(|e| e.configuration == *own),
        }
    }

    /// The candidates of the seeds.
    pub(super) fn seeds(&mut self, seeds: Vec<Seed>) -> Result<Vec<(Role, Candidate)>> {
        let mut found = Vec::new();
        if let Some(start) = self.space.start() {
            found.push((Role::Start, Candidate::Of(start.clone())));
        }
        for seed in seeds {
            match self.space.find(&seed.configuration) {
                Ok(point) => found.push((seed.role, Candidate::Of(point))),
                Err(_) if seed.role == Role::Nearest => {}
                Err(_) if seed.role == Role::Reference => {
                    self.reference = Some(seed.configuration.clone());
                    found.push((seed.role, Candidate::Reference(seed.configuration)));
                }
                Err(error) => {
                    let role = seed.role.name();
                    return Err(Error {
                        message: format!("the {role} configuration: {}", error.message),
                        ..error
                    });
                }
            }
        }
        Ok(found)
    }

    pub(super) fn is_reference(&self, configuration: &Configuration) -> bool {
        self.reference.as_ref() == Some(configuration)
    }
}
