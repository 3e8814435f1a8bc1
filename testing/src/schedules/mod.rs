//! Random schedules for the computations of random programs and workloads.
//!
//! Each starts from one that is likely to be followed, the model's own or one whose layers stand
//! as the machine's do, and is then changed one parameter after the other. A change that breaks
//! a constraint is taken back, so that every schedule is one that the checks accept.

pub mod base;
pub mod change;
pub mod coverage;
mod focus;
mod fusion;
mod plan;
pub mod tally;
pub mod targets;

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::asm::{Asm, CpuFacts};
use mdh_algebra::schedule::{Schedule, Schedules};
use mdh_driver::error::Result;
use mdh_driver::run_command;
use mdh_driver::source::Source;

use crate::choices::Choices;
use crate::generate;
use crate::program::Program;
use crate::run::{self, Depth, Ending};
use plan::Plan;
use targets::Target;

/// A program and schedules for its computations.
pub struct Case {
    /// What the program computes.
    pub workload: &'static str,
    /// The program.
    pub program: Program,
    /// Schedules by the positions of computations; the model chooses for the others.
    pub schedules: Schedules,
    /// What is special about it.
    pub features: Vec<String>,
}

/// How much of a schedule is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Few parameters, of which some are surely changed.
    Focused,
    /// A few parameters.
    Tame,
    /// Most parameters.
    Wild,
}

/// The case of a seed's choices; why there is none otherwise.
pub fn case(c: &mut Choices) -> std::result::Result<Case, String> {
    let (workload, program) = c.scope("program", |c| match c.chance("random", 15) {
        true => ("random", generate::program(c)),
        false => generate::workload(c),
    });
    let targets = targets::targets(&program)?;
    let asm = machine();
    let is_fused = targets.len() > 1 && c.chance("fused", 75);
    // Loops that others are to be computed in are few, and outside of registers.
    let is_plain = is_fused && c.chance("plain", 80);
    let mut schedules: Vec<Option<Schedule>> = Vec::new();
    for (n, target) in targets.iter().enumerate() {
        let schedule = c.scope(format!("schedule{n}"), |c| {
            let is_given =
                c.keep() && (targets.len() == 1 || is_plain || !c.chance("by the model", 15));
            is_given.then(|| match is_plain {
                true => fusion::plain(c, target, &asm),
                false => schedule(c, target, &asm),
            })
        });
        schedules.push(schedule);
    }
    c.scope("fusion", |c| {
        if c.keep() && is_fused {
            fusion::compute_at(c, &targets, &mut schedules, &asm);
        }
    });
    let mut features = coverage::of_program(&program);
    for (target, schedule) in targets.iter().zip(&schedules) {
        if let Some(schedule) = schedule {
            features.extend(coverage::of_schedule(schedule, target, &asm));
        }
    }
    if features.iter().any(|feature| feature == "special") && generate::is_product(workload) {
        features.push("special product".into());
    }
    features.sort();
    features.dedup();
    let pairs = schedules.into_iter().enumerate();
    let computations: BTreeMap<String, Schedule> = pairs
        .filter_map(|(n, schedule)| Some((n.to_string(), schedule?)))
        .collect();
    Ok(Case {
        workload,
        program,
        schedules: Schedules { computations },
        features,
    })
}

/// The machine of the name `cpu`, with usual facts: schedules are checked for it.
pub fn machine() -> Asm {
    Asm::cpu(&CpuFacts::default())
}

fn schedule(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let styles = [Style::Tame, Style::Wild, Style::Focused];
    let style = styles[c.weighted("style", &[16, 14, 70])];
    let start = base::base(c, target, asm);
    let mut plan = Plan::new(target, asm, start);
    change::all(c, &mut plan, style);
    if style == Style::Focused {
        c.scope("focus", |c| focus::some(c, &mut plan));
    }
    plan.schedule
}

impl Case {
    /// All that tells it from others.
    pub fn text(&self) -> String {
        let Case {
            program, schedules, ..
        } = self;
        format!("{program}{:?}\n{}", program.values, schedules.to_json())
    }

    /// Runs it and compares the result with the definition; `folder` is for what it is called
    /// with.
    pub fn run(&self, folder: &Path) -> Ending {
        let source = Source::from_text("f.mlir", &self.program.to_string());
        let arguments = || -> Result<_> {
            let file = folder.join("schedule.json");
            mdh_driver::output::write(&file, self.schedules.to_json().as_bytes())?;
            let mut arguments = run::arguments(&self.program, &source, Depth::LastStep, folder)?;
            arguments.schedule = Some(file);
            Ok(arguments)
        };
        let outcome =
            arguments().and_then(|arguments| run_command::run_source(&source, &arguments));
        run::ending(outcome)
    }

    /// Writes program, schedules, arrays and the command to a folder; returns the command.
    pub fn write(&self, folder: &Path) -> Result<String> {
        let file = folder.join("schedule.json");
        mdh_driver::output::write(&file, (self.schedules.to_json() + "\n").as_bytes())?;
        let command = run::write(&self.program, folder)?;
        let command = format!("{command} --schedule {}", file.display());
        mdh_driver::output::write(&folder.join("command"), (command.clone() + "\n").as_bytes())?;
        Ok(command)
    }
}
