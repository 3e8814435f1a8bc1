//! Random schedules for the computations of random programs and workloads.
//!
//! Each starts from one that is likely to be followed, the model's own or one whose layers stand
//! as the machine's do, and is then changed one parameter after the other. A change that breaks
//! a constraint is taken back, so that every schedule is one that the checks accept.

pub mod base;
pub mod change;
pub mod coverage;
mod plan;
pub mod tally;
pub mod targets;

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::asm::{Asm, CpuFacts};
use mdh_algebra::schedule::{ComputeAt, LevelName, Schedule, Schedules, Total, check_compute_at};
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
    let mut schedules: Vec<Option<Schedule>> = Vec::new();
    for (n, target) in targets.iter().enumerate() {
        let schedule = c.scope(format!("schedule{n}"), |c| {
            let is_given = c.keep() && (targets.len() == 1 || !c.chance("by the model", 15));
            is_given.then(|| schedule(c, target, &asm))
        });
        schedules.push(schedule);
    }
    c.scope("fusion", |c| {
        if c.keep() && targets.len() > 1 && c.chance("fused", 20) {
            compute_at(c, &targets, &mut schedules, &asm);
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
    let style = match c.chance("wild", 14) {
        true => Style::Wild,
        false => Style::Tame,
    };
    let start = base::base(c, target, asm);
    let mut plan = Plan::new(target, asm, start);
    change::all(c, &mut plan, style);
    plan.schedule
}

/// Fuses one computation into the loop of one that comes after it.
fn compute_at(c: &mut Choices, targets: &[Target], schedules: &mut [Option<Schedule>], asm: &Asm) {
    let producer = c.below("producer", targets.len() as u64 - 1) as usize;
    let behind = (targets.len() - producer - 1) as u64;
    let consumer = producer + 1 + c.below("consumer", behind) as usize;
    let (Some(of), Some(_)) = (&schedules[consumer], &schedules[producer]) else {
        return;
    };
    let Ok(total) = Total::new(of, &targets[consumer].known, asm) else {
        return;
    };
    let order = total.decompose.order.iter();
    let loops: Vec<LevelName> = order
        .filter(|level| !total.count(**level).is_one())
        .map(|level| total.name(*level))
        .collect();
    if loops.is_empty() {
        return;
    }
    let level = loops[c.below("level", loops.len() as u64) as usize].clone();
    let consumer = targets[consumer].name.clone();
    let at = ComputeAt { consumer, level };
    if check_compute_at(&at, &[(&at.consumer, &total)]).is_ok()
        && let Some(schedule) = &mut schedules[producer]
    {
        schedule.compute_at = Some(at);
    }
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
