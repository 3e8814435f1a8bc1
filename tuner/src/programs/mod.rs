//! `mdh tune`: searches the schedules of programs for the fastest (MDH paper, section 5).
//!
//! Here is what configurations mean: the schedules of a program's computations (`program`), and how
//! they are measured (`processes`): by the processes of `mdh bench`, each of which holds its result
//! against the definition first.

mod digest;
mod fitting;
mod fusion;
mod gpu;
mod import;
mod links;
mod lowering;
mod model;
mod nearest_schedule;
pub mod options;
mod outcome;
mod package_names;
mod processes;
mod program;
mod script;
mod search;
mod share_of_limit;
mod shared;
mod show;
pub mod tuned;

use std::path::Path;
use std::time::Instant;

use mdh_bench::protocol::Task;
use mdh_bench::workloads::{self, Case, Scale};
use mdh_compiler::check::SAMPLES;
use mdh_compiler::cli::Size;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::formed::Formed;
use mdh_compiler::interrupt::Interrupts;
use mdh_compiler::output;
use mdh_compiler::progress::Reader;
use mdh_compiler::source::{self, Source};
use mdh_compiler::{arguments, diagnostics, sized};
use mdh_dialect::context;
use mdh_jit::pool;
use mdh_schedule::asm::Asm;
use melior::Context;

use crate::abort_condition::Abort;
use crate::space::value::Configuration;
use crate::technique;
use crate::tune::Tuned;
use nearest_schedule::StartSchedule;
use options::TuneArguments;
use processes::Processes;
use program::SearchedProgram;
use script::KnobScript;
use search::{Search, USUAL, abort, of_model, write_json};

/// Runs the command.
pub fn run(arguments: &TuneArguments) -> Result<()> {
    arguments.json.check()?;
    for path in [&arguments.html, &arguments.out].into_iter().flatten() {
        output::check_writable(path)?;
    }
    arguments
        .failures
        .as_deref()
        .map_or(Ok(()), outcome::expect_empty)?;
    abort(arguments, Abort::Duration(USUAL))?;
    technique::of_names(&arguments.technique, arguments.seed)?;
    if let Some(results) = &arguments.import {
        return import::run(arguments, results);
    }
    check_device(arguments)?;
    let several = arguments.subjects.len() > 1;
    if several && arguments.is_of_one() {
        return Err(Error::usage(
            "--html, --out and --failures are for one program: expected one",
        ));
    }
    mdh_passes::register_all();
    let asm = mdh_machine::this().map_err(Error::input)?;
    let subjects = arguments.subjects.iter();
    let tasks: Vec<Vec<Task>> = subjects
        .map(|subject| tasks(subject, arguments))
        .collect::<Result<_>>()?;
    let tasks: Vec<Task> = tasks.into_iter().flatten().collect();
    if let Some(folder) = &arguments.package {
        return gpu::make(arguments, folder, &tasks);
    }
    // Of several programs, those that follow are tuned, too.
    let mut without = Vec::new();
    for task in &tasks {
        let tuned = tune_program(arguments, task, &asm)?;
        without.extend(outcome::expect_best(arguments, &task.name, &tuned).err());
    }
    without.into_iter().next().map_or(Ok(()), Err)
}

/// Checks: a GPU's schedules go to a package, and have no times here.
fn check_device(arguments: &TuneArguments) -> Result<()> {
    let is_gpu = arguments.gpu().is_some();
    if let (Some(name), None) = (&arguments.machine.asm, arguments.machine.named()) {
        return Err(Error::usage(format!(
            "--asm: found '{name}', and schedules are measured on this machine: expected none, or with --package \
             the name of a GPU"
        )));
    }
    let wrong = match (is_gpu, &arguments.package) {
        (true, None) => {
            "found --device for a GPU without --package: expected the folder of packages \
                         that `mdh-exec --tune` measures on a machine with one"
        }
        (false, Some(_)) => "--package is for GPUs: expected --device cuda",
        (true, Some(_)) if arguments.is_measured() => {
            "--html, --out, --failures, --json and --tuned are for what was measured: expected none with --package"
        }
        _ => return Ok(()),
    };
    Err(Error::usage(wrong))
}

/// The tasks of a subject: of a file, or of a workload at one of its sizes or at all.
fn tasks(subject: &str, arguments: &TuneArguments) -> Result<Vec<Task>> {
    let (entry, sizes) = (arguments.entry.as_deref(), &arguments.size);
    if Path::new(subject).exists() || source::is_file_name(subject) {
        let source = Source::read(Path::new(subject))?;
        let task = Task {
            name: subject.to_string(),
            program: source.text().to_string(),
            file: Some(source.name().to_string()),
            entry: entry.map(str::to_string),
            ranges: arguments.ranges.clone(),
            samples: SAMPLES,
            ..Task::default()
        };
        return match sizes.is_empty() {
            true => Ok(vec![task]),
            false => for_sizes(&source, entry, sizes).map(|program| {
                vec![Task {
                    program,
                    file: None,
                    ..task
                }]
            }),
        };
    }
    if !sizes.is_empty() {
        return Err(Error::usage(
            "--size is for programs that leave sizes open: a workload has its own",
        ));
    }
    if !arguments.ranges.is_empty() {
        return Err(Error::usage(
            "--range is for programs: a workload has its own",
        ));
    }
    let cases = workloads::select(workloads::all(Scale::Full)?, &[subject.to_string()])?;
    let task = |case: &Case| {
        Ok(Task {
            name: case.name(),
            program: case.program()?,
            ranges: case.ranges(),
            samples: case.samples,
            ..Task::default()
        })
    };
    cases.iter().map(task).collect()
}

/// A program for the sizes that it is given.
fn for_sizes(source: &Source, entry: Option<&str>, sizes: &[Size]) -> Result<String> {
    let context = context::program_context();
    diagnostics::show(&context, source);
    let program = sized::program(&context, source, entry, sizes);
    // Elements have up to 16 bytes.
    let bytes = sizes
        .iter()
        .try_fold(16i64, |all, size| all.checked_mul(size.size));
    match (program, sizes.iter().find(|size| size.size == 0)) {
        (Err(_), None) if bytes.is_none() => Err(Error::resources(format!(
            "--size: {} are more points than can be addressed: expected smaller sizes",
            words(sizes)
        ))),
        (Ok(_), Some(empty)) => Err(Error::input(format!(
            "--size: found {}=0, for which nothing is computed, and nothing can be tuned: expected \
             at least 1",
            empty.dimension
        ))),
        (program, _) => program,
    }
}

/// Sizes as they are given.
fn words(sizes: &[Size]) -> String {
    let texts = sizes
        .iter()
        .map(|size| format!("{}={}", size.dimension, size.size));
    texts.collect::<Vec<_>>().join(" ")
}

fn tune_program(arguments: &TuneArguments, task: &Task, asm: &Asm) -> Result<Tuned> {
    let clock = Instant::now();
    let is_held = arguments.json.is_wanted() || arguments.html.is_some();
    let time = abort(arguments, Abort::Duration(USUAL))?.latest();
    let limits = is_held
        .then(|| {
            share_of_limit::measured(
                &task.name,
                time,
                Reader::from_flag(arguments.json.is_printed()),
            )
        })
        .flatten();
    let context = context::program_context();
    let source = task.source()?;
    let (program, start) = searched(arguments, task, &context, &source, asm)?;
    let start =
        start.map(|path| StartSchedule::read(&program, &source, task.entry.as_deref(), path));
    let start = start.transpose()?;
    let fixed = nearest_schedule::fixed(&arguments.fix, start.as_ref())?;
    let space = program.space(&fixed)?;
    program.expect_legal(&space)?;
    program.expect_chains()?;
    let start = start.and_then(|start| start.configuration(&program, &space));
    let cores = pool::thread_count();
    let model = |configuration: &Configuration| program.cycles(configuration);
    let mut processes = Processes::new(&program, task.clone(), cores, processes::patience());
    let work = processes.work();
    let shares = |tuned: &Tuned| {
        share_of_limit::shares((task, &program), limits.as_ref()?, *work.get()?, tuned)
    };
    let search = Search {
        clock,
        of_model: of_model(&space, &program, &fixed),
        start,
        shares: &shares,
        ..Search::new(task, asm, &program, &model)?
    };
    let interrupts = Interrupts::ask();
    let tuned = search.run(arguments, &space, &mut processes, &interrupts)?;
    let best = tuned
        .best()
        .and_then(|best| program.written(&best.configuration));
    if let (Some(path), Some(schedules)) = (&arguments.out, best) {
        write_json(path, &schedules)?;
    }
    if let Some(folder) = &arguments.failures {
        let text = |own: &Configuration| serde_json::to_string_pretty(&program.written(own)?).ok();
        outcome::write_failures(folder, &tuned, &text)?;
    }
    outcome::expect_whole(&tuned)?;
    interrupts.end()?;
    Ok(tuned)
}

/// The program whose schedules are searched, with the script that leaves knobs open, and the file of the schedule to
/// start from, of which `--schedule` names one.
fn searched<'a>(
    arguments: &'a TuneArguments,
    task: &Task,
    context: &Context,
    source: &Source,
    asm: &Asm,
) -> Result<(SearchedProgram, Option<&'a Path>)> {
    let wanted = arguments.parts.searched();
    let program = SearchedProgram::read(context, source, task.entry.as_deref(), asm, wanted)?;
    program.expect_some(&task.name)?;
    check_ranges(context, source, task)?;
    let schedule = arguments.schedule.as_deref();
    Ok(match schedule.map(knob_script).transpose()?.flatten() {
        Some(script) => (program.with_script(script)?, None),
        None => (program, schedule),
    })
}

/// Checks: ranges are those of the program's arguments.
fn check_ranges(context: &Context, source: &Source, task: &Task) -> Result<()> {
    if task.ranges.is_empty() {
        return Ok(());
    }
    let formed = Formed::new(context, source, task.entry.as_deref())?;
    arguments::check_ranges(&formed.entry()?, &task.ranges)
}

/// The script of a file that leaves knobs open, if it is one.
fn knob_script(path: &Path) -> Result<Option<KnobScript>> {
    KnobScript::open(&Source::read(path)?)
}

#[cfg(test)]
mod tests;
