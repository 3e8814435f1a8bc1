//! Schedules of a function as a file that `--schedule` takes: its own, and where it has none those of the model.

use std::collections::BTreeMap;

use mdh_dialect::ir::Op;
use mdh_dialect::schedule;
use mdh_dialect::script::{self, Plans};
use mdh_schedule::Schedules;

use super::summary::{Explanation, Origin};
use crate::cli::Spelling;
use crate::error::{Error, Result, say};
use crate::schedules;

/// Schedules in a spelling.
pub fn spelled(plans: Plans, spelling: Spelling) -> String {
    match (plans, spelling) {
        (plans, Spelling::Transform) => script::write(&plans),
        (Plans::One(plan), Spelling::Attr) => format!("{plan}\n"),
        (Plans::One(plan), Spelling::Json) => format!("{}\n", plan.to_json()),
        (Plans::Several(computations), Spelling::Json) => {
            format!("{}\n", Schedules { computations }.to_json())
        }
        (Plans::Several(plans), Spelling::Attr) => {
            let aliases = plans.iter();
            aliases
                .map(|(name, plan)| schedules::with_name(name, plan))
                .collect()
        }
    }
}

impl Explanation {
    /// The schedules that were chosen, by the keys by which `--schedule` knows their computations. `written` is a copy
    /// of the function before anything was rewritten, which the file is for; its schedules are overwritten here. A note
    /// says which computations have none in the file, so that the model chooses theirs again.
    pub fn plans(&self, written: Op, spelling: Spelling) -> Result<Plans> {
        let computations = schedule::computations(written);
        let is_shared = self.made_by_name().next().is_some();
        let mut plans = BTreeMap::new();
        let mut left = Vec::new();
        for summary in &self.computations {
            let Some(plan) = &summary.schedule else {
                continue;
            };
            let key = summary.key.as_ref().filter(|key| {
                // What reads a computation that the compiler makes has other inputs in the program.
                let op = schedule::find(&computations, key).ok();
                let is_whole = || op.is_none_or(|op| is_of(op, plan));
                let is_given = summary.origin == Origin::Given;
                is_given || !summary.is_rewritten && (is_shared || is_whole())
            });
            match key {
                Some(key) => drop(plans.insert(key.clone(), plan.clone())),
                None => left.push(format!("'{}'", summary.name)),
            }
        }
        if plans.is_empty() {
            return Err(nothing(&self.function, &left));
        }
        let mut made = self
            .made_by_name()
            .filter(|_| spelling == Spelling::Transform);
        if let Some(name) = made.next() {
            let what = format!("a script has no handle for '{name}', which the compiler makes");
            return Err(
                Error::input(what).help("`--emit json` and `--emit attr` have its schedule")
            );
        }
        if !left.is_empty() {
            say(&format!(
                "note: the file has no schedule for {}, which the compiler makes of parts of the program: the \
                 model chooses again\n",
                left.join(", ")
            ));
        }
        Ok(match (computations.len(), plans.pop_first()) {
            (1, Some((_, plan))) if plans.is_empty() => Plans::One(Box::new(plan)),
            (_, first) => Plans::Several(first.into_iter().chain(plans).collect()),
        })
    }

    /// The names of what the compiler makes of what several computations evaluate.
    fn made_by_name(&self) -> impl Iterator<Item = &String> {
        let made = self.computations.iter();
        let made = made.filter(|own| own.position.is_none() && own.schedule.is_some());
        made.filter_map(|own| own.key.as_ref())
    }
}

/// Returns whether a schedule is one of a computation as it was written.
fn is_of(op: Op, plan: &mdh_schedule::Schedule) -> bool {
    schedule::set(op, Some(plan));
    schedule::violations(op).is_empty() && schedule::refusals(op).is_empty()
}

fn nothing(function: &str, left: &[String]) -> Error {
    let why = match left.is_empty() {
        true => "the model has none for plain loops and histograms".to_string(),
        false => format!(
            "{} are made by the compiler of parts of the program, and no file names them",
            left.join(", ")
        ),
    };
    let help = "`mdh compile FILE --emit scheduled` shows what is computed, and how";
    let what =
        format!("'{function}' has no computation with a schedule that a file may have: {why}");
    Error::input(what).help(help)
}
