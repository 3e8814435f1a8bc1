//! Schedules as files: JSON, or the text of the attribute.

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::schedule::{ParseError, Schedule, Schedules};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::{read, schedule, verify};

use crate::diagnostics::{error_at, error_in};
use crate::error::{Error, Result};
use crate::source::Source;

/// The schedules of a file.
pub enum Plans {
    /// Of a function's only computation.
    One(Box<Schedule>),
    /// Of computations by position, from 0, or by the name of their first output.
    Several(BTreeMap<String, Schedule>),
}

/// Reads a file; `{` starts JSON, everything else is the attribute's text.
pub fn read(source: &Source) -> Result<Plans> {
    let text = source.text();
    let located = |error: ParseError| error_in(source, error.line, error.column, &error.message);
    if !text.trim_start().starts_with('{') {
        return text
            .parse()
            .map(|plan| Plans::One(Box::new(plan)))
            .map_err(located);
    }
    if has_computations(text) {
        let plans = Schedules::from_json(text).map_err(located)?;
        return Ok(Plans::Several(plans.computations));
    }
    let plan = Schedule::from_json(text).map_err(located)?;
    Ok(Plans::One(Box::new(plan)))
}

fn has_computations(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value.get("computations").is_some())
}

/// Gives the computations of a function the schedules of a file, and checks that they are theirs.
pub fn apply(path: &Path, function: Op) -> Result<()> {
    let source = Source::read(path)?;
    let plans = read(&source)?;
    let computations = computations(function);
    let names: Vec<String> = computations.iter().map(|op| name(*op)).collect();
    let wrong = |message: String| Error::input(format!("'{}': {message}", source.name()));
    match plans {
        Plans::One(plan) => match computations[..] {
            [only] => set(only, &plan),
            _ => Err(wrong(format!(
                "found one schedule for {}, expected {{\"computations\": {{..}}}} with a schedule \
                 for each by its position from 0, or by its first output: {}",
                ir::count(computations.len(), "computation"),
                names.join(", ")
            ))),
        },
        Plans::Several(plans) => {
            for (key, plan) in &plans {
                let is = |n: usize| *key == n.to_string() || *key == names[n];
                let found: Vec<usize> = (0..names.len()).filter(|n| is(*n)).collect();
                let [only] = found[..] else {
                    return Err(wrong(format!(
                        "found {} '{key}', expected one: a position from 0, or one of {}",
                        ir::count(found.len(), "computation"),
                        names.join(", ")
                    )));
                };
                set(computations[only], plan)?;
            }
            Ok(())
        }
    }
}

/// The computations of a function in the order of their positions.
pub fn computations(function: Op) -> Vec<Op> {
    ir::find_all(function, &["mdh.compute"])
}

/// A computation's name: that of its first output.
fn name(compute: Op) -> String {
    let outputs = read::compute(compute).map(|parts| parts.outputs);
    let first = outputs.unwrap_or_default().into_iter().next();
    first.map(|output| output.name).unwrap_or_default()
}

fn set(compute: Op, plan: &Schedule) -> Result<()> {
    schedule::set(compute, Some(plan));
    let findings = verify::errors(compute);
    let findings: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
    match findings.is_empty() {
        true => Ok(()),
        false => Err(error_at(
            melior::ir::operation::OperationLike::location(&compute),
            &format!("the computation {}", findings.join("\n  ")),
        )),
    }
}
