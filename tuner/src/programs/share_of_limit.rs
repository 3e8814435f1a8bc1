//! The share of the machine's limit that a search has reached, as `mdh bench` has it.

use std::path::Path;
use std::time::Duration;

use mdh_bench::limits::{Limit, Limits, Work};
use mdh_bench::protocol::Task;
use mdh_bench::workloads::{self, Scale};
use mdh_compiler::error::{Result, say};
use mdh_compiler::progress::{Progress, Reader};
use serde::Serialize;

use super::program::SearchedProgram;
use crate::tune::{Evaluation, Tuned};

/// The shares of a limit that the best and the default reach.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// The limiting unit: `FMA`, or the smallest memory that holds all arrays.
    pub kind: String,
    /// No run takes less.
    pub ms: f64,
    /// Of the best.
    pub best: Option<f64>,
    /// Of the default.
    pub default: Option<f64>,
}

impl Shares {
    fn new(limit: Limit, tuned: &Tuned) -> Shares {
        let share = |of: Option<&Evaluation>| Some(limit.ms / of?.outcome.cost()?);
        Shares {
            ms: limit.ms,
            best: share(tuned.best()),
            default: share(tuned.default()),
            kind: limit.kind,
        }
    }

    /// In words, if there is a best.
    pub fn text(&self) -> Option<String> {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let default = self.default.map_or(String::new(), |share| {
            format!(", the default {}", percent(share))
        });
        let best = percent(self.best?);
        Some(format!(
            "{best} of the machine's limit ({}){default}",
            self.kind
        ))
    }
}

/// The least time of a search in which the limits are measured: that takes some seconds, and leaves more than half.
const LEAST: Duration = Duration::from_secs(20);

/// Measures the machine's limits in the time of a search, if it has one; a note says why that cannot be.
pub fn measured(name: &str, time: Option<Duration>, reader: Reader) -> Option<Limits> {
    if let Some(time) = time.filter(|time| *time < LEAST) {
        say(&format!(
            "note: the machine's limits are not measured in a search of {} s, expected {} s at least\n",
            time.as_secs_f64(),
            LEAST.as_secs()
        ));
        return None;
    }
    let _progress = Progress::start(reader, &format!("{name}: measuring the machine's limits"));
    let limits = mdh_bench::limits();
    limits
        .map_err(|error| say(&format!("note: {}\n", error.message())))
        .ok()
}

/// Holds what a search has found against the limits.
pub fn shares(
    (task, program): (&Task, &SearchedProgram),
    limits: &Limits,
    work: Work,
    tuned: &Tuned,
) -> Option<Shares> {
    let best = tuned.best()?.outcome.cost()?;
    let limit = match Path::new(&task.name).exists() {
        true => limits.bound_of_program(work, program.types.iter().map(String::as_str), best),
        // Whoever names no file names a workload.
        false => of_workload(limits, &task.name, work).ok()?,
    };
    limit.map(|limit| Shares::new(limit, tuned))
}

fn of_workload(limits: &Limits, name: &str, work: Work) -> Result<Option<Limit>> {
    let cases = workloads::all(Scale::Full)?;
    let case = cases.iter().find(|case| case.name() == name);
    Ok(case.and_then(|case| limits.bound(work, &case.dtype, case.bound)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_in_words() {
        let shares = |best, default| Shares {
            kind: "FMA".to_string(),
            ms: 1.0,
            best,
            default,
        };
        let text = shares(Some(0.8134), Some(0.5)).text();
        let expected = "81 % of the machine's limit (FMA), the default 50 %";
        assert_eq!(text.as_deref(), Some(expected));
        assert_eq!(shares(None, Some(0.5)).text(), None);
    }
}
