//! Finds the computations of a function and their schedules, as the compiler would: what an explanation is of.

use std::collections::{BTreeMap, BTreeSet};

use mdh_dialect::ir::{self, Op};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{ops, schedule};
use mdh_passes::pipelines::{Line, LineOptions, RangeChecks, Target};
use mdh_passes::simplify::reverse_dimensions;
use mdh_passes::simplify::separate_scans;
use mdh_passes::simplify::share_subexpressions;
use mdh_passes::support::deterministic;
use mdh_passes::tile;
use mdh_passes::tile::warn;
use mdh_schedule::MIN_GRAIN;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;
use melior::Context;
use melior::ir::Module;

use super::computation::{Explained, Given};
use super::sizes::Given as Sizes;
use super::statements::{self, Threads};
use super::summary::{Explanation, Summary};
use super::version;
use super::work::Work;
use crate::cli::ExplainArguments;
use crate::error::{Error, Result};
use crate::formed::Formed;
use crate::host::Host;
use crate::select::function;
use crate::source::Source;
use crate::tuned::Machine;
use crate::{compile, remarks, schedules, sized};

/// A function that was looked at.
pub struct Looked<'c> {
    /// All that there is to say of it.
    pub explanation: Explanation,
    /// A copy of the module before anything was rewritten: what a file of schedules is for.
    pub written: Module<'c>,
    /// The module as it is when schedules are chosen.
    pub simplified: Module<'c>,
}

/// Looks at a function of a program. Warnings have been shown, if `arguments` want them.
pub fn look<'c>(
    host: &Host,
    context: &'c Context,
    source: &Source,
    arguments: &ExplainArguments,
) -> Result<Looked<'c>> {
    let gpu = arguments.machine.gpu()?;
    let asm = arguments.machine.asm(&host.machine)?;
    let mut formed = Formed::new(context, source, arguments.entry.as_deref())?;
    let sizes = sizes(&formed, arguments)?;
    let version = version::choose(context, &mut formed, &arguments.size)?;
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
        given_schedules(host, context, &mut formed, arguments, (&mut given, &asm))?;
    }
    let written = compile::copy(&formed.module);
    let Formed {
        mut module,
        function: name,
        ..
    } = formed;
    given.rewritten = simplify(host, context, &mut module, &name)?;
    let entry = function(compile::operation(&module), &name)?;
    let before = names(entry);
    let shared = remarks::of_pass(context, share_subexpressions::PASS.argument, || {
        share_subexpressions::share(compile::operation(&module), &asm, MIN_GRAIN)
    });
    shared.map_err(|(op, errors)| {
        errors.iter().for_each(|error| ir::error_at(op, error));
        Error::diagnosed()
    })?;
    given.shared = names(entry).difference(&before).cloned().collect();
    let explanation = explained(&name, entry, &mut given, &asm)?;
    Ok(Looked {
        explanation,
        written,
        simplified: module,
    })
}

/// Gives the function the schedules of `--schedule` or `--tuned`.
fn given_schedules<'c>(
    host: &Host,
    context: &'c Context,
    formed: &mut Formed<'c>,
    arguments: &ExplainArguments,
    (given, asm): (&mut Given, &Asm),
) -> Result<()> {
    let original = function(compile::operation(&formed.module), &formed.function)?;
    let before = texts(original)?;
    give(host, context, formed, arguments, || {
        Ok(machine(given.gpu.as_ref(), asm))
    })?;
    let func = function(compile::operation(&formed.module), &formed.function)?;
    let unchanged = texts(func)?.into_iter().zip(before).filter(|(a, b)| a == b);
    given.by = Some(match arguments.given.schedule.as_ref() {
        Some(path) => format!("by '{}'", path.display()),
        None => "by `mdh tune`".to_string(),
    });
    given.by_program = unchanged.filter_map(|(text, _)| text).collect();
    Ok(())
}

/// Runs what stands before the choice of schedules. The names of computations that are others then.
fn simplify(
    host: &Host,
    context: &Context,
    module: &mut Module,
    name: &str,
) -> Result<BTreeSet<String>> {
    let options = LineOptions {
        ranges: RangeChecks::Off,
        ..LineOptions::RUN
    };
    let target = Target::Cpu;
    let simplified = Line { target, options }.between(compile::RAISED, "bufferized");
    compile::run_all(&host.machine, context, module, &simplified)?;
    let before = described(function(compile::operation(module), name)?);
    let first = [separate_scans::PASS, reverse_dimensions::PASS].map(|pass| pass.argument);
    compile::run_passes(context, module, &first)?;
    let after = described(function(compile::operation(module), name)?);
    let is_other = |(name, text): &(String, String)| before.get(name) != Some(text);
    Ok(after
        .into_iter()
        .filter(is_other)
        .map(|(name, _)| name)
        .collect())
}

/// Descriptions of a function's computations by their names.
fn described(function: Op) -> BTreeMap<String, String> {
    let computations = schedule::computations(function).into_iter();
    let text = |op| Some(Work::new(&translate::compute(op, Depth::Signatures).ok()?).text());
    computations
        .map(|op| (schedule::name(op), text(op).unwrap_or_default()))
        .collect()
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
fn explained(name: &str, entry: Op, given: &mut Given, asm: &Asm) -> Result<Explanation> {
    let failed = |(_, errors): (Op, Vec<String>)| Error::input(errors.join("\n  "));
    let computations = ir::find_all(entry, &[ops::mdh::COMPUTE]);
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
    let statements = given.accounts.as_ref().map(|accounts| {
        let threads = explained.iter().map(|one| one.threads(&explained, given));
        let threads: Vec<Threads> = threads.collect();
        statements::text(accounts, entry, &threads)
    });
    let mut said = warn::Said::new();
    for one in explained.iter().filter(|one| !given.is_updated(one.op)) {
        warn::warn((one.op, &one.known), one.schedule(), asm, &mut said);
    }
    let summaries = explained.iter();
    let summaries = summaries.map(|one| Summary::new(one, &explained, given, asm));
    let gpu = given.gpu.as_ref().map(|gpu| gpu.name.to_string());
    Ok(Explanation {
        function: name.to_string(),
        machine: gpu.unwrap_or_else(|| asm.name.clone()),
        version: given.version.clone(),
        statements,
        computations: summaries.collect(),
    })
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
