//! Configurations that were kept of a search, as schedules of a program of other sizes, or for another version.

use mdh_schedule::Schedules;

use super::program::{Searched, SearchedProgram};
use crate::space::value::Configuration;

impl SearchedProgram {
    /// The schedules of a configuration that may be another program's, or of other sizes; `None` if
    /// they are none of this program's, or break a rule.
    pub fn fitting(&self, configuration: &Configuration) -> Option<Schedules> {
        match self.is_whole(configuration) && self.broken(configuration).is_empty() {
            true => self.schedules(configuration),
            false => None,
        }
    }

    /// The reason for which a configuration is not [fitting](SearchedProgram::fitting).
    pub fn misfit(&self, configuration: &Configuration) -> String {
        let has_values = |one: &Searched| one.values(configuration).is_some();
        if !self.is_whole(configuration) || !self.searched.iter().all(has_values) {
            return "what was kept has other parameters, of another version of mdh".to_string();
        }
        format!(
            "the schedule breaks a rule: {}",
            self.broken(configuration).join("; ")
        )
    }

    /// Returns whether a configuration has as many parameters as there are.
    pub(crate) fn is_whole(&self, configuration: &Configuration) -> bool {
        let names = self.searched.iter().map(|one| one.names().len());
        let places = self.fusion.iter().map(|own| own.parameters());
        configuration.pairs().count() == names.chain(places).sum::<usize>()
    }

    /// The reasons for which the values of a configuration are no schedules.
    fn broken(&self, configuration: &Configuration) -> Vec<String> {
        let refusals_of = |entry: &Searched| -> Vec<String> {
            let Some(positions) = entry.values(configuration) else {
                return vec![format!("'{}' has other parameters", entry.name)];
            };
            let wrong = (1..=positions.len()).find(|n| !entry.space.allows(&positions[..*n]));
            let wrong = wrong.and_then(|n| entry.space.knobs().get(n - 1));
            match wrong {
                Some(knob) => vec![format!(
                    "{}{}: {}",
                    entry.prefix, knob.name, knob.constraint
                )],
                None => entry.space.objections(&entry.space.schedule(&positions)),
            }
        };
        let mut objections: Vec<String> = self.searched.iter().flat_map(refusals_of).collect();
        let is_lowered = || self.fusion.iter().all(|f| f.is_lowered(configuration));
        if objections.is_empty() && !is_lowered() {
            objections.push("a chain has no code".to_string());
        }
        objections
    }
}
