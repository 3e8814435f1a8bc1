//! `mdh explain`: a computation, its schedule and the reasons for it, and its bounds.

use std::collections::BTreeSet;

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::location::SourceLocation;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{context, schedule};
use mdh_frontend::memory::Account;
use mdh_passes::pipelines::{Line, LineOptions, RangeChecks, Target};
use mdh_passes::simplify::lower_histograms;
use mdh_passes::simplify::reverse_dimensions;
use mdh_passes::simplify::separate_scans;
use mdh_passes::simplify::share_subexpressions;
use mdh_passes::support::deterministic;
use mdh_passes::tile;
use mdh_passes::tile::warn;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;
use mdh_schedule::{Choice, MIN_GRAIN, Parts, Schedule};
use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;

use crate::cli::ExplainArguments;
use crate::error::{Error, Result};
use crate::explain::inside::Inside;
use crate::explain::sizes::Given as Sizes;
use crate::explain::statements::{self, Threads};
use crate::explain::{device, levels, updates, version, work};
use crate::formed::Formed;
use crate::host::Host;
use crate::select::function;
use crate::source::Source;
use crate::tuned::Machine;
use crate::{compile, diagnostics, output, schedules, sized};

/// Runs the command.
pub fn run(host: &Host, arguments: &ExplainArguments) -> Result<()> {
    let gpu = arguments.machine.gpu()?;
    let asm = arguments.machine.asm(&host.machine)?;
    let source = Source::read(&arguments.file)?;
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, &source);
    if arguments.no_warnings {
        diagnostics::hide_warnings(&context);
    }
    let wanted = arguments.entry.as_deref();
    let mut formed = Formed::new(&context, &source, wanted)?;
    let sizes = sizes(&formed, arguments)?;
    let version = version::choose(&context, &mut formed, &arguments.size)?;
    if arguments.deterministic {
        deterministic::want(compile::operation(&formed.module));
    }
    let original = function(compile::operation(&formed.module), &formed.function)?;
    let mut given = Given {
        accounts: source.accounts(),
        positions: positions(original),
        version,
        sizes,
        gpu,
        ..Given::default()
    };
    if arguments.given.option().is_some() {
        let before = texts(original)?;
        give(host, &context, &mut formed, arguments, || {
            Ok(machine(given.gpu.as_ref(), &asm))
        })?;
        let func = function(compile::operation(&formed.module), &formed.function)?;
        let unchanged = texts(func)?.into_iter().zip(before).filter(|(a, b)| a == b);
        let file = arguments.given.schedule.as_ref();
        given.by = Some(match file {
            Some(path) => format!("by '{}'", path.display()),
            None => "by `mdh tune`".to_string(),
        });
        given.by_program = unchanged.filter_map(|(text, _)| text).collect();
    }
    let Formed {
        mut module,
        function: name,
        ..
    } = formed;
    simplify(host, &context, &mut module)?;
    let entry = function(compile::operation(&module), &name)?;
    let before = names(entry);
    let shared = share_subexpressions::share(compile::operation(&module), &asm, MIN_GRAIN);
    shared.map_err(|(op, errors)| {
        errors.iter().for_each(|error| ir::error_at(op, error));
        Error::diagnosed()
    })?;
    given.shared = names(entry).difference(&before).cloned().collect();
    output::print(explained(&name, entry, &mut given, &asm)?)
}

/// Runs what stands before the choice of schedules.
fn simplify(host: &Host, context: &Context, module: &mut Module) -> Result<()> {
    let options = LineOptions {
        ranges: RangeChecks::Off,
        ..LineOptions::RUN
    };
    let target = Target::Cpu;
    let simplified = Line { target, options }.between(compile::RAISED, "bufferized");
    compile::run_all(&host.machine, context, module, &simplified)?;
    let first = [separate_scans::PASS, reverse_dimensions::PASS].map(|pass| pass.argument);
    compile::run_passes(context, module, &first)
}

/// Gives the function the schedules that the command is given, for the sizes that it is given.
fn give<'c>(
    host: &Host,
    context: &'c Context,
    formed: &mut Formed<'c>,
    arguments: &ExplainArguments,
    machine: impl Fn() -> Result<Machine>,
) -> Result<()> {
    let func = function(compile::operation(&formed.module), &formed.function)?;
    let is_open = !arguments.size.is_empty() && !sized::open_dimensions(func).is_empty();
    let wanted = schedules::wanted(host, &arguments.given, &machine)?;
    match wanted.filter(|_| is_open) {
        Some(wanted) => {
            let sizes = sized::given(formed, &arguments.size)?;
            schedules::give_sized(context, formed, &sizes, &wanted)?;
        }
        None => {
            let module = compile::operation(&formed.module);
            schedules::give(host, &arguments.given, machine, module, &formed.function)?;
        }
    }
    Ok(())
}

/// The machine that is explained, as schedules are kept for it.
fn machine(gpu: Option<&Gpu>, asm: &Asm) -> Machine {
    match gpu {
        Some(gpu) => Machine::Gpu {
            name: Some(gpu.name.to_string()),
            chip: None,
        },
        None => Machine::Cpu(Box::new(asm.clone())),
    }
}

/// All there is to say of a function.
fn explained(name: &str, entry: Op, given: &mut Given, asm: &Asm) -> Result<String> {
    let failed = |(_, errors): (Op, Vec<String>)| Error::input(errors.join("\n  "));
    let computations = ir::find_all(entry, &["mdh.compute"]);
    let open: Vec<Op> = computations
        .iter()
        .copied()
        .filter(|op| !given.is_updated(*op))
        .collect();
    let chosen = tile::schedule::choices(&open, asm, MIN_GRAIN).map_err(failed)?;
    let mut explained = Vec::new();
    for op in computations {
        let chosen_pair = chosen.iter().find(|(other, _)| *other == op);
        let choice = chosen_pair.and_then(|(_, choice)| choice.clone());
        explained.push(Explained::new(op, choice, given)?);
    }
    let made = explained
        .iter()
        .filter(|one| one.position.is_none())
        .count();
    let mut text = format!(
        "{name}: {}",
        ir::count(explained.len() - made, "computation")
    );
    if made > 0 {
        text += &format!(", and {made} that the compiler made of parts of them");
    }
    text.push('\n');
    text += given.version.as_deref().unwrap_or_default();
    if let Some(accounts) = &given.accounts {
        let threads: Vec<Threads> = explained
            .iter()
            .map(|one| one.threads(&explained, given))
            .collect();
        text += &statements::text(accounts, entry, &threads);
    }
    let mut said = warn::Said::new();
    for one in &explained {
        text += &one.text(&explained, given, asm)?;
        if !given.is_updated(one.op) {
            warn::warn((one.op, &one.known), one.schedule(), asm, &mut said);
        }
    }
    Ok(text)
}

/// The names of a function's computations.
fn names(function: Op) -> BTreeSet<String> {
    let computations = schedule::computations(function).into_iter();
    computations.map(schedule::name).collect()
}

/// The names of a function's computations: they stand at the positions that `--schedule` knows.
fn positions(function: Op) -> Vec<Option<String>> {
    let computations = schedule::computations(function).into_iter();
    computations.map(|op| Some(schedule::name(op))).collect()
}

/// Reads `--size`.
fn sizes(formed: &Formed, arguments: &ExplainArguments) -> Result<Sizes> {
    if arguments.size.is_empty() {
        return Ok(Sizes::default());
    }
    Sizes::new(&formed.entry()?, &arguments.size)
}

/// Further facts about the computations, and the source of schedules that the model does not
/// choose.
#[derive(Default)]
struct Given {
    /// The names at the positions of the program's computations, until they are found.
    positions: Vec<Option<String>>,
    /// The names of those that are made of what several evaluate.
    shared: BTreeSet<String>,
    /// A line about the versions that the program asks for, if it does.
    version: Option<String>,
    /// Accounts of the program's statements, if it is in the tensor language.
    accounts: Option<Vec<Account>>,
    /// The sizes of `--size`.
    sizes: Sizes,
    /// The GPU of `--device`.
    gpu: Option<Gpu>,
    /// Origin of the schedules of `--schedule` or `--tuned`.
    by: Option<String>,
    /// The schedules of the program that these have left.
    by_program: BTreeSet<String>,
}

impl Given {
    /// The position at which a computation stood in the program; `None` if the compiler made it.
    fn position(&mut self, name: &str) -> Option<usize> {
        let position = self
            .positions
            .iter()
            .position(|own| own.as_deref() == Some(name))?;
        self.positions[position] = None;
        Some(position)
    }

    /// Returns whether a computation becomes updates of bins, which kernels have not yet.
    fn is_updated(&self, op: Op) -> bool {
        self.gpu.is_none() && lower_histograms::is_histogram(op)
    }

    fn how(&self, schedule: &Schedule) -> String {
        match &self.by {
            Some(by) if !self.by_program.contains(&schedule.to_string()) => by.clone(),
            _ => "with the program".to_string(),
        }
    }
}

/// The schedules of a function's computations, where they have any.
fn texts(function: Op) -> Result<Vec<Option<String>>> {
    let failed = |errors: Vec<String>| Error::input(errors.join("\n  "));
    let computations = schedule::computations(function).into_iter();
    let text = |op| {
        Ok(schedule::read(op)
            .map_err(failed)?
            .map(|own| own.to_string()))
    };
    computations.map(text).collect()
}

/// The model's words for threads in its reasons.
const CORES: [&str; 2] = ["one core", "cores"];

/// A computation of which all is known.
struct Explained<'c> {
    op: Op<'c>,
    /// Its position for `--schedule`.
    position: Option<usize>,
    known: Computation,
    /// Its own schedule.
    own: Option<Schedule>,
    /// The model's choice.
    choice: Option<Choice>,
}

impl<'c> Explained<'c> {
    fn new(op: Op<'c>, choice: Option<Choice>, given: &mut Given) -> Result<Explained<'c>> {
        let failed = |errors: Vec<String>| Error::input(errors.join("\n  "));
        let mut known = match translate::compute(op, Depth::Code) {
            Ok(computation) => computation,
            Err(_) => translate::compute(op, Depth::Signatures).map_err(failed)?,
        };
        given.sizes.fill(&mut known);
        Ok(Explained {
            op,
            position: given.position(&schedule::name(op)),
            known,
            own: schedule::read(op).map_err(failed)?,
            choice,
        })
    }

    fn schedule(&self) -> Option<&Schedule> {
        let chosen = self.choice.as_ref().map(|choice| &choice.schedule);
        self.own.as_ref().or(chosen)
    }

    /// The cores that it is shared by, and why; those of the computation in whose tiles it is.
    fn threads(&self, all: &[Explained], given: &Given) -> Threads<'c> {
        let within = self.schedule().and_then(|own| own.compute_at.as_ref());
        let consumer = within.and_then(|at| {
            let mut candidates = all.iter();
            candidates.find(|one| schedule::name(one.op) == at.consumer)
        });
        let fused = consumer.unwrap_or(self);
        let cores = |schedule: &Schedule| {
            let core = schedule.layers.iter().find(|layer| layer.name == "core");
            let parts = core.into_iter().flat_map(|layer| layer.parts.values());
            let counts = parts.map(|parts| match parts {
                Parts::Fixed(count) => Some(*count),
                Parts::Derived => None,
            });
            counts.product::<Option<i64>>()
        };
        let reasons = fused.choice.as_ref().filter(|_| fused.own.is_none());
        let reason = reasons.and_then(|choice| {
            let mut reasons = choice.reasons.iter();
            reasons.find(|reason| CORES.iter().any(|word| reason.contains(word)))
        });
        let chosen = fused.schedule().filter(|_| given.gpu.is_none());
        Threads {
            op: self.op,
            chosen: chosen.and_then(|schedule| Some((cores(schedule)?, reason.cloned()))),
        }
    }

    /// All there is to say of it.
    fn text(&self, all: &[Explained], given: &Given, asm: &Asm) -> Result<String> {
        let outputs = self.known.outputs.iter();
        let names: Vec<&str> = outputs.map(|output| output.name.as_str()).collect();
        let place = SourceLocation::from_location(self.op.location());
        let place = place.map(|place| format!(" ({}:{})", place.file, place.line));
        let names = names.join(", ") + &place.unwrap_or_default();
        let heading = match self.position {
            Some(position) => format!("\ncomputation {position}: {names}\n"),
            None if given.shared.contains(&schedule::name(self.op)) => format!(
                "\ncomputation of the compiler's: {names}\n  position: none, --schedule knows it by its \
                 name '{}'\n",
                schedule::name(self.op)
            ),
            None => format!(
                "\ncomputation of the compiler's: {names}\n  position: none, --schedule does not \
                 know it\n"
            ),
        };
        Ok(heading + &work::text(&self.known) + &self.plan(all, given, asm))
    }

    /// The schedule, the reasons for it, and what follows from it.
    fn plan(&self, all: &[Explained], given: &Given, asm: &Asm) -> String {
        if let Some(own) = &self.own {
            let head = format!("  schedule: given {}\n", given.how(own));
            return head + &self.scheduled(own, all, given, asm);
        }
        if given.is_updated(self.op) {
            return updates::text(self.op, &self.known, asm);
        }
        let Some(choice) = &self.choice else {
            return format!(
                "  schedule: none, plain loops: the model has nothing for dimensions without points \
                 or whose width is not known, nor for a machine without the layers \
                 of cpu ('{}')\n",
                asm.name
            );
        };
        let reasons = choice.reasons.iter();
        let reasons: String = reasons.map(|reason| format!("    - {reason}\n")).collect();
        let head = format!(
            "  schedule: chosen by the model for '{}'\n{reasons}",
            asm.name
        );
        head + &self.scheduled(&choice.schedule, all, given, asm)
    }

    fn scheduled(
        &self,
        schedule: &Schedule,
        all: &[Explained],
        given: &Given,
        asm: &Asm,
    ) -> String {
        let lines = schedule.to_string();
        let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
        if let Some(gpu) = &given.gpu {
            return lines
                + &levels::refusal(schedule, &self.known, asm)
                + &device::text(schedule, &self.known, gpu);
        }
        match &schedule.compute_at {
            None => lines + &levels::text(schedule, &self.known, &self.inside(all), asm),
            Some(at) => {
                let text = format!(
                    "  levels: those of a tile, in '{}' of '{}', where what bounds both is said\n",
                    at.level, at.consumer
                );
                lines + &text
            }
        }
    }

    /// Returns the computations in its loops.
    fn inside(&self, all: &[Explained]) -> Inside {
        let name = schedule::name(self.op);
        let is_inside = |other: &&Explained| {
            let at = other.schedule().and_then(|own| own.compute_at.as_ref());
            at.is_some_and(|at| at.consumer == name)
        };
        let neighbours = all.iter().filter(is_inside);
        let neighbours: Vec<_> = neighbours.map(|one| (one.op, one.known.clone())).collect();
        Inside::new(self.op, &neighbours)
    }
}
