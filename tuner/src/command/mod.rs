//! Measuring any command: `./a.out {tile} {threads}`, whose cost is its time or a figure that it
//! prints.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use mdh_exec::racing::{Decision, decide};
use mdh_process::{End, Limits, Ran};
use regex::Regex;

mod identity;
mod words;

use crate::error::{Error, Result};
use crate::measure::{Cost, FailureKind, Measure, Outcome, Race};
use crate::space::value::Configuration;
use words::Words;

/// A number as programs print it.
const NUMBER: &str = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?";
/// The most letters of a failure's text.
const MOST_LETTERS: usize = 2000;

/// Origin of the cost of a run.
#[derive(Clone, Debug)]
pub enum CostSource {
    /// The time from start to end, in seconds.
    WallTime,
    /// The last number on standard output.
    LastNumber,
    /// The last match on standard output: of the expression's first group, if it has one.
    Pattern(Regex),
}

/// The way in which a command is run.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Time after which a run hangs.
    pub timeout: Duration,
    /// Most bytes of data of a process, if they are limited: what is reserved, but not written to,
    /// counts where it could be.
    pub memory: Option<u64>,
    /// Number of runs, each of which is a sample.
    pub samples: usize,
    /// Origin of the cost.
    pub cost: CostSource,
    /// Folder in which it runs, if not this one.
    pub folder: Option<PathBuf>,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            timeout: Duration::from_secs(60),
            memory: None,
            samples: 3,
            cost: CostSource::WallTime,
            folder: None,
        }
    }
}

/// A command that is tuned.
#[derive(Debug)]
pub struct ForeignCommand {
    build: Option<Words>,
    run: Words,
    conditions: Conditions,
}

impl ForeignCommand {
    /// A command of words as a shell has them, without a shell (`sh -c '..'` is one): `{name}` stands
    /// for a parameter's value, `{{` and `}}` for braces. What builds it, if anything, runs once
    /// before it for each configuration; if that fails, the configuration does not compile. `needed`
    /// are the parameters that have to occur.
    pub fn new(
        build: Option<&str>,
        run: &str,
        known: &[String],
        needed: &[String],
        conditions: Conditions,
    ) -> Result<ForeignCommand> {
        let build = build.map(|text| Words::parse(text, known)).transpose()?;
        let run = Words::parse(run, known)?;
        let uses =
            |name: &String| run.uses(name) || build.as_ref().is_some_and(|build| build.uses(name));
        let missing: Vec<&str> = needed
            .iter()
            .filter(|name| !uses(name))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            return Err(Error::input(format!(
                "the command does not depend on {}",
                quoted(&missing, " and ")
            ))
            .help(format!(
                "write {} where its value belongs, or take it out of the space",
                missing
                    .iter()
                    .map(|name| format!("{{{name}}}"))
                    .collect::<Vec<_>>()
                    .join(" and ")
            )));
        }
        // What a build makes is not there yet.
        let first = build.as_ref().unwrap_or(&run);
        first.check_program(conditions.folder.as_deref())?;
        Ok(ForeignCommand {
            build,
            run,
            conditions,
        })
    }

    /// The cost source of a text: `time`, `number`, or an expression for [`CostSource::Pattern`].
    pub fn cost_source(text: &str) -> Result<CostSource> {
        match text {
            "time" => Ok(CostSource::WallTime),
            "number" => Ok(CostSource::LastNumber),
            _ => Regex::new(text).map(CostSource::Pattern).map_err(|error| {
                Error::input(format!("the cost's expression: {error}"))
                    .help("expected time, number, or an expression such as 'took ([0-9.]+) ms'")
            }),
        }
    }

    /// The outcome of a configuration; none if it was interrupted, or no time is left.
    fn outcome(&self, configuration: &Configuration, race: &Race<'_>) -> Option<Outcome> {
        if let Some(build) = &self.build {
            let ran = match self.start(build, configuration, race) {
                Ok(ran) => ran?,
                Err(text) => return Some(Outcome::failed(FailureKind::Compilation, text)),
            };
            if let Some(failure) = failure(&ran, &self.conditions) {
                let Outcome::Failed(mut failed) = failure else {
                    return None;
                };
                failed.kind = match failed.kind {
                    FailureKind::Crash => FailureKind::Compilation,
                    kind => kind,
                };
                return Some(Outcome::Failed(failed));
            }
        }
        let mut samples = Vec::new();
        while samples.len() < self.conditions.samples.max(1) {
            let ran = match self.start(&self.run, configuration, race) {
                Ok(ran) => ran?,
                Err(text) => return Some(Outcome::failed(FailureKind::Rejected, text)),
            };
            if let Some(failure) = failure(&ran, &self.conditions) {
                return Some(failure);
            }
            match cost(&ran, &self.conditions.cost) {
                Ok(cost) => samples.push(cost),
                Err(text) => return Some(Outcome::failed(FailureKind::WrongResult, text)),
            }
            let is_last = samples.len() >= self.conditions.samples;
            if !is_last && decide(race.best, &samples, race.confidence) == Decision::Lost {
                return Some(Outcome::Measured(Cost::of_lost(samples)));
            }
        }
        Some(Outcome::Measured(Cost::of(samples)))
    }

    /// Runs words to their end; none if it was interrupted, or no time is left.
    fn start(
        &self,
        words: &Words,
        configuration: &Configuration,
        race: &Race<'_>,
    ) -> std::result::Result<Option<Ran>, String> {
        let words = words.filled(configuration);
        let limits = Limits {
            timeout: self.conditions.timeout,
            left: race.left,
            memory: self.conditions.memory,
            interrupted: race.interrupted,
        };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if let Some(folder) = &self.conditions.folder {
            command.current_dir(folder);
        }
        let ran = mdh_process::run(command, &limits)
            .map_err(|error| format!("'{}' cannot be started: {error}", words.join(" ")))?;
        Ok(match ran.end {
            End::GivenUp => None,
            End::Exited(_) | End::TimedOut => Some(ran),
        })
    }
}

impl Measure for ForeignCommand {
    fn measure(
        &mut self,
        batch: &[Configuration],
        race: &Race<'_>,
        tell: &mut dyn FnMut(usize, Outcome),
    ) {
        for (n, configuration) in batch.iter().enumerate() {
            if race.is_interrupted() {
                return;
            }
            match self.outcome(configuration, race) {
                Some(outcome) => tell(n, outcome),
                None => return,
            }
        }
    }
}

/// The failure of a run, if it is one.
fn failure(ran: &Ran, conditions: &Conditions) -> Option<Outcome> {
    let status = match &ran.end {
        End::TimedOut => {
            let seconds = conditions.timeout.as_secs_f64();
            let text = format!("it did not end within {seconds} s");
            return Some(Outcome::failed(FailureKind::Hang, text));
        }
        End::GivenUp => return None,
        End::Exited(status) if status.success() => return None,
        End::Exited(status) => status,
    };
    let said = last_letters(&ran.errors);
    let kind = match mdh_process::is_killed(*status) || is_about_memory(&ran.errors) {
        true => FailureKind::Memory,
        false => FailureKind::Crash,
    };
    let text = match said.is_empty() {
        true => status.to_string(),
        false => format!("{status}: {said}"),
    };
    Some(Outcome::failed(kind, text))
}

/// Tells whether what programs say at their end is about memory.
fn is_about_memory(said: &str) -> bool {
    let about = [
        "annot allocate memory",
        "ut of memory",
        "memory exhausted",
        "std::bad_alloc",
        "MemoryError",
        "memory allocation of",
        "OutOfMemory",
    ];
    about.iter().any(|part| said.contains(part))
}

/// The cost of a run.
fn cost(ran: &Ran, source: &CostSource) -> std::result::Result<f64, String> {
    let found = match source {
        CostSource::WallTime => return Ok(ran.wall.as_secs_f64()),
        CostSource::LastNumber => {
            let number = Regex::new(NUMBER).map_err(|error| error.to_string())?;
            number
                .find_iter(&ran.output)
                .last()
                .map(|found| found.as_str())
        }
        CostSource::Pattern(pattern) => pattern
            .captures_iter(&ran.output)
            .last()
            .and_then(|found| found.get(1).or(found.get(0)))
            .map(|found| found.as_str()),
    };
    let wanted = match source {
        CostSource::Pattern(pattern) => format!("a figure that matches '{pattern}'"),
        _ => "a number".to_string(),
    };
    let output = last_letters(&ran.output);
    let found =
        found.ok_or_else(|| format!("found no cost, expected {wanted} on its output: {output}"))?;
    let cost: std::result::Result<f64, _> = found.trim().parse();
    cost.map_err(|_| format!("found the cost '{found}', expected a number"))
}

/// The end of a text, without blanks around it.
fn last_letters(text: &str) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(MOST_LETTERS);
    text.chars().skip(skipped).collect()
}

fn quoted(names: &[&str], between: &str) -> String {
    names
        .iter()
        .map(|name| format!("'{name}'"))
        .collect::<Vec<_>>()
        .join(between)
}

#[cfg(test)]
mod tests;
