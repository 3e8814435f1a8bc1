//! Random schedules for the computations of random programs and workloads.
//!
//! Each starts from a draw from the space that a search has, or from the model's own choice (`draw.rs`), and is then
//! changed beyond these, one parameter after the other (`edit.rs`). A change that breaks a constraint is taken back, so
//! that every schedule is one that the checks accept.

pub mod coverage;
mod draw;
mod edit;
mod fusion;
mod matrices;
mod plan;
mod targets;
pub mod verdict;

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::computation::Computation;
use mdh_compiler::cli::{CheckHow, Device, Fallback};
use mdh_compiler::error::Result;
use mdh_compiler::source::Source;
use mdh_schedule::asm::{Asm, CpuFacts, CudaFacts};
use mdh_schedule::legality::{self, Subject};
use mdh_schedule::{Schedule, Schedules, check};

use crate::choices::Choices;
use crate::generate;
use crate::program::RandomProgram;
use crate::run::{self, Ending, Way};
use plan::ValidSchedule;
use targets::Target;

/// Machine that schedules are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Cores with caches and lanes.
    Cpu,
    /// Blocks and threads, on the simulator.
    Gpu,
}

impl Machine {
    /// The machine, with usual facts: schedules are checked for it.
    pub fn asm(self) -> Asm {
        match self {
            Machine::Cpu => Asm::cpu(&CpuFacts::default()),
            Machine::Gpu => Asm::cuda(&CudaFacts::default()),
        }
    }
}

/// A program and schedules for its computations.
pub struct Case {
    /// The machine.
    pub machine: Machine,
    /// Name of the program's workload.
    pub workload: &'static str,
    /// The program.
    pub program: RandomProgram,
    /// Schedules by the positions of computations; the model chooses for the others.
    pub schedules: Schedules,
    /// Its features.
    pub features: Vec<String>,
}

/// Extent of the changes to a schedule.
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
pub fn case(c: &mut Choices, machine: Machine) -> std::result::Result<Case, String> {
    let is_of_matrices = machine == Machine::Gpu && c.chance("matrices", 20);
    let (workload, program) = c.scope("program", |c| match c.chance("random", 15) {
        _ if is_of_matrices => generate::matrices(c),
        true => ("random", generate::program(c)),
        false => generate::workload(c),
    });
    let targets = targets::targets(&program)?;
    let asm = machine.asm();
    let is_fused = machine == Machine::Cpu && targets.len() > 1 && c.chance("fused", 75);
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
            // Several may be computed in one, or nested.
            if targets.len() > 2 && c.chance("again", 50) {
                c.scope("again", |c| {
                    fusion::compute_at(c, &targets, &mut schedules, &asm);
                });
            }
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
    features.push(Legality::new(&targets, &schedules, &asm).feature().into());
    features.sort();
    features.dedup();
    let pairs = schedules.into_iter().enumerate();
    let computations: BTreeMap<String, Schedule> = pairs
        .filter_map(|(n, schedule)| Some((n.to_string(), schedule?)))
        .collect();
    Ok(Case {
        machine,
        workload,
        program,
        schedules: Schedules { computations },
        features,
    })
}

/// The answer of [`legality::check`] for the schedules of a program, before it is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Legality {
    /// All of them are lowered, each alone: of computations in others more is asked.
    Yes,
    /// Some are lowered if sizes allow it, or if the loop nests are that become computations.
    Open,
    /// Some are not.
    No,
}

impl Legality {
    fn new(targets: &[Target], schedules: &[Option<Schedule>], asm: &Asm) -> Legality {
        let answers = targets.iter().zip(schedules);
        let answers = answers.filter_map(|(target, schedule)| {
            let schedule = schedule.as_ref()?;
            let legality = Legality::of_one(&target.computation, schedule, asm)?;
            // With sizes, which canonicalization finds, more may stay in registers.
            let mut sized = [&target.known].into_iter().chain(&target.others);
            let is_legal = |computation: &Computation| {
                let answer = Legality::of_one(computation, schedule, asm);
                answer.is_none_or(|answer| answer == Legality::Yes)
            };
            Some(match legality == Legality::Yes && !sized.all(is_legal) {
                true => Legality::Open,
                false => legality,
            })
        });
        answers.max().unwrap_or(Legality::Yes)
    }

    /// The answer for one computation; none for a schedule that breaks constraints.
    fn of_one(computation: &Computation, schedule: &Schedule, asm: &Asm) -> Option<Legality> {
        let resolved = check(schedule, computation, asm).ok()?;
        // Each of them is asked about when it is a computation of its own.
        if resolved.is_apart(computation) {
            return Some(Legality::Open);
        }
        let subject = Subject {
            computation,
            schedule,
            resolved: &resolved,
        };
        Some(match legality::check(&subject) {
            Ok(()) => Legality::Yes,
            Err(found) if found.iter().all(|refusal| refusal.is_open) => Legality::Open,
            Err(_) => Legality::No,
        })
    }

    /// Its name among the features of a case.
    pub fn feature(self) -> &'static str {
        match self {
            Legality::Yes => "legal",
            Legality::Open => "legal perhaps",
            Legality::No => "illegal",
        }
    }
}

fn schedule(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let styles = [Style::Tame, Style::Wild, Style::Focused];
    let style = styles[c.weighted("style", &[16, 14, 70])];
    let drawn = |c: &mut Choices| ValidSchedule::new(target, asm, draw::start(c, target, asm));
    let mut plan = c.scope("first", drawn);
    // One that is not valid is none.
    if plan.schedule.layers.is_empty() {
        plan = c.scope("second", drawn);
    }
    edit::all(c, &mut plan, style);
    plan.schedule
}

/// A case that is run on its machine, and compared with the definition.
pub struct Run {
    /// The case.
    pub case: Case,
    /// The check: as it is, or in integers.
    pub check: CheckHow,
    /// True if its kernels run as PTX, on the interpreter, too.
    pub is_interpreted: bool,
}

impl crate::case::Case for Run {
    fn text(&self) -> String {
        let Case {
            program, schedules, ..
        } = &self.case;
        format!("{program}{:?}\n{}", program.values, schedules.to_json())
    }

    fn features(&self) -> String {
        format!("{},{}", self.case.workload, self.case.features.join(","))
    }

    fn run(&self, folder: &Path) -> Ending {
        match self.run_on(folder, self.device()) {
            Ending::Right if self.is_interpreted => self.run_on(folder, Device::Cuda),
            ending => ending,
        }
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let file = folder.join("schedule.json");
        let text = self.case.schedules.to_json() + "\n";
        mdh_compiler::output::write(&file, text.as_bytes())?;
        let way = Way {
            check: self.check,
            device: self.device(),
            ..Way::PLAIN
        };
        let report = match way.device {
            Device::Sim => " --report",
            _ => "",
        };
        let command = run::write(&self.case.program, way, folder)?;
        let command = format!("{command} --schedule {}{report}", file.display());
        mdh_compiler::output::write(&folder.join("command"), (command.clone() + "\n").as_bytes())?;
        Ok(command)
    }
}

impl Run {
    fn device(&self) -> Device {
        match self.case.machine {
            Machine::Cpu => Device::Cpu,
            Machine::Gpu => Device::Sim,
        }
    }

    fn run_on(&self, folder: &Path, device: Device) -> Ending {
        let Case {
            program, schedules, ..
        } = &self.case;
        let source = Source::from_text("f.mlir", &program.to_string());
        let arguments = || -> Result<_> {
            let file = folder.join("schedule.json");
            mdh_compiler::output::write(&file, schedules.to_json().as_bytes())?;
            let mut arguments = run::arguments(program, &source, folder)?;
            arguments.check = Some(self.check);
            arguments.given.schedule = Some(file);
            arguments.device = device;
            // Of computations without points no kernel is left.
            arguments.fallback = (device != Device::Cpu).then_some(Fallback::Cpu);
            arguments.report = device == Device::Sim;
            Ok(arguments)
        };
        let outcome = arguments().and_then(|arguments| run::run_source(&source, &arguments));
        let simulation = outcome.as_ref().ok();
        let simulation = simulation.and_then(|report| report.simulation.as_ref());
        // Programs may read what they have not written, where the definition takes any value, and
        // copies of tiles take the room behind them along.
        let counts = |finding: &&String| !finding.contains("read of what was not written");
        let finding = simulation.and_then(|simulation| simulation.findings.iter().find(counts));
        if let Some(finding) = finding {
            eprintln!("error: the simulator has found a mistake: {finding}");
            return Ending::Wrong;
        }
        run::ending(outcome)
    }
}
