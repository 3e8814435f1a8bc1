//! Outcomes of many cases, counted.

use std::collections::BTreeMap;
use std::fmt;

use crate::schedules::coverage::{CORES, OTHERS, PARAMETERS};

/// Outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The result is what the definition says.
    Right,
    /// The schedule is not followed, which was said.
    Refused,
    /// Everything else.
    Failed,
}

/// Counts by outcome.
pub type Counts = [u64; 3];

/// Outcomes of many cases.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// All of them.
    pub all: Counts,
    /// By workload.
    pub workloads: BTreeMap<String, Counts>,
    /// By what is special about them.
    pub features: BTreeMap<String, Counts>,
    /// By what was said when they were refused, with the first seed.
    pub refusals: BTreeMap<String, (u64, u64)>,
}

impl Tally {
    /// Counts one more; `features` start with the workload, and `said` is why it was refused.
    pub fn add(&mut self, seed: u64, outcome: Outcome, features: &str, said: Option<String>) {
        let place = outcome as usize;
        self.all[place] += 1;
        let mut names = features.split(',');
        let workload = names.next().unwrap_or_default().to_string();
        if !workload.is_empty() {
            self.workloads.entry(workload).or_default()[place] += 1;
        }
        for name in names.filter(|name| !name.is_empty()) {
            self.features.entry(name.to_string()).or_default()[place] += 1;
        }
        if let (Outcome::Refused, Some(said)) = (outcome, said) {
            self.refusals.entry(said).or_insert((0, seed)).0 += 1;
        }
    }

    /// Returns the number of cases.
    pub fn count(&self) -> u64 {
        self.all.iter().sum()
    }

    /// Returns the number of cases with a feature that were lowered, run, and right.
    pub fn right_with(&self, feature: &str) -> u64 {
        let counts = self.features.get(feature);
        counts.map_or(0, |counts| counts[Outcome::Right as usize])
    }

    /// Returns the features that are too rare among the cases that were right: parameters in less
    /// than a tenth of them, that of chains, which few programs are, in less than a fiftieth;
    /// everything else not at all.
    pub fn lacking(&self) -> Vec<String> {
        let mut lacking = Vec::new();
        let right = self.all[Outcome::Right as usize];
        let shares = PARAMETERS.map(|name| (name, 10));
        for (name, share) in shares.into_iter().chain([("compute_at", 50)]) {
            let (found, least) = (self.right_with(name), right / share);
            if found < least {
                lacking.push(format!("parameter {name}: {found} right, expected {least}"));
            }
        }
        for name in CORES
            .iter()
            .chain(&OTHERS)
            .filter(|name| self.right_with(name) == 0)
        {
            lacking.push(format!("{name}: none right, expected some"));
        }
        lacking
    }
}

/// A table, with what is covered if features are counted; what is refused, and how often.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:16}  right  refused  failed", "")?;
        let mut line = |name: &str, counts: &Counts| {
            let [right, refused, failed] = counts;
            writeln!(f, "  {name:16} {right:6} {refused:8} {failed:7}")
        };
        line("all", &self.all)?;
        for (name, counts) in &self.workloads {
            line(name, counts)?;
        }
        let known = PARAMETERS.iter().chain(&CORES).chain(&OTHERS);
        if !self.workloads.is_empty() {
            for name in known.clone() {
                line(name, self.features.get(*name).unwrap_or(&[0; 3]))?;
            }
        }
        for (name, counts) in &self.features {
            if !known.clone().any(|known| known == name) {
                line(name, counts)?;
            }
        }
        let mut refusals: Vec<_> = self.refusals.iter().collect();
        refusals.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (said, (count, seed)) in refusals {
            writeln!(f, "  refused {count:5} (first: seed {seed}): {said}")?;
        }
        Ok(())
    }
}
