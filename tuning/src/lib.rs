//! `mdh tune`: searches the schedules of programs, or the parameters of any command, for the
//! fastest (MDH paper, section 5).
//!
//! The search itself is [`mdh_tuner`]'s. Here is what its configurations mean: the schedules of a
//! program's computations ([`program`]), and how they are measured ([`measure`]): by the processes of
//! `mdh bench`, each of which holds its result against the definition first.

mod digest;
mod fitting;
mod fusion;
pub mod gpu;
pub mod import;
mod limit;
mod links;
mod lowering;
pub mod measure;
mod model;
pub mod options;
mod outcome;
mod package_names;
pub mod program;
pub mod script;
mod shared;
mod show;
mod start;
pub mod tuned;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mdh_bench::protocol::Task;
use mdh_bench::workloads::{self, Case, Scale};
use mdh_compiler::check::SAMPLES;
use mdh_compiler::cli::Size;
use mdh_compiler::error::{Error, Kind, Result, say};
use mdh_compiler::formed::Formed;
use mdh_compiler::interrupt::Interrupts;
use mdh_compiler::output;
use mdh_compiler::source::Source;
use mdh_compiler::{arguments, diagnostics, sized};
use mdh_dialect::context;
use mdh_jit::pool;
use mdh_schedule::asm::Asm;
use mdh_tuner::abort::{self, Abort};
use mdh_tuner::clock::Monotonic;
use mdh_tuner::command::{Conditions, ForeignCommand};
use mdh_tuner::db::{self, Database, Sizes};
use mdh_tuner::measure::Measure;
use mdh_tuner::racing::CONFIDENCE;
use mdh_tuner::report::{self, ReportTexts};
use mdh_tuner::space::Space;
use mdh_tuner::space::value::Configuration;
use mdh_tuner::technique::CostModel;
use mdh_tuner::tune::{Role, Seed, Tuned, Tuning};
use mdh_tuner::{error, space, technique};
use melior::Context;
use serde::Serialize;

use limit::Shares;
use measure::Processes;
use options::{Fix, TuneArguments, TuneDevice};
use program::Program;
use script::KnobScript;
use start::Start;

/// Time of a search, if nothing else ends it.
const USUAL: Duration = Duration::from_secs(60);
/// The most configurations that are measured once more in the end.
const CONFIRMATIONS: usize = 5;
/// The time after which the default is measured again: clocks and neighbours change in seconds.
const PACE: Duration = Duration::from_secs(5);
/// The most sizes of before whose best are tried first.
const NEAREST: usize = 3;

/// Runs the command.
pub fn run(arguments: &TuneArguments) -> Result<()> {
    for path in [&arguments.report, &arguments.out].into_iter().flatten() {
        output::check_writable(path)?;
    }
    arguments
        .failures
        .as_deref()
        .map_or(Ok(()), outcome::expect_empty)?;
    abort(arguments, Abort::Duration(USUAL))?;
    technique::of_names(&arguments.technique, arguments.seed).map_err(failed)?;
    if let (Some(command), Some(space)) = (&arguments.command, &arguments.space) {
        return tune_command(arguments, command, space);
    }
    if let Some(results) = &arguments.import {
        return import::run(arguments, results);
    }
    check_device(arguments)?;
    let several = arguments.subjects.len() > 1;
    if several && arguments.is_of_one() {
        return Err(Error::usage(
            "--report, --out and --failures are for one program: expected one",
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
    let is_gpu = arguments.device != TuneDevice::Cpu;
    let wrong = match (is_gpu, &arguments.package) {
        (true, None) => {
            "found --device for a GPU without --package: expected the folder of packages \
                         that `mdh-exec --tune` measures on a machine with one"
        }
        (false, Some(_)) => "--package is for GPUs: expected --device cuda",
        (true, Some(_)) if arguments.is_measured() => {
            "--report, --out, --failures, --json and --db are for what was measured: expected none with --package"
        }
        _ => return Ok(()),
    };
    Err(Error::usage(wrong))
}

/// The tasks of a subject: of a file, or of a workload at one of its sizes or at all.
fn tasks(subject: &str, arguments: &TuneArguments) -> Result<Vec<Task>> {
    let (entry, sizes) = (arguments.entry.as_deref(), &arguments.size);
    if Path::new(subject).exists() {
        let source = Source::read(Path::new(subject))?;
        let task = Task {
            name: subject.to_string(),
            program: source.text().to_string(),
            entry: entry.map(str::to_string),
            ranges: arguments.ranges.clone(),
            samples: SAMPLES,
            schedule: None,
        };
        return match sizes.is_empty() {
            true => Ok(vec![task]),
            false => for_sizes(&source, entry, sizes).map(|program| vec![Task { program, ..task }]),
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
    let each = sizes.iter();
    let each = each.map(|size| format!("{}={}", size.dimension, size.size));
    each.collect::<Vec<_>>().join(" ")
}

fn tune_program(arguments: &TuneArguments, task: &Task, asm: &Asm) -> Result<Tuned> {
    let is_held = arguments.json || arguments.report.is_some();
    let limits = is_held.then(|| limit::measured(&task.name)).flatten();
    // The machine's limits are none of the search's time: it may have less than they take.
    let clock = Monotonic::start();
    let context = context::program_context();
    let source = Source::from_text(&task.name, &task.program);
    let wanted = arguments.parts.searched();
    let program = Program::read(&context, &source, task.entry.as_deref(), asm, wanted)?;
    program.expect_some(&task.name)?;
    check_ranges(&context, &source, task)?;
    let script = arguments
        .schedule
        .as_deref()
        .map(knob_script)
        .transpose()?
        .flatten();
    let is_script = script.is_some();
    let program = match script {
        Some(script) => program.with_script(script)?,
        None => program,
    };
    let start = arguments.schedule.as_deref().filter(|_| !is_script);
    let start = start.map(|path| Start::read(&program, &source, task.entry.as_deref(), path));
    let start = start.transpose()?;
    let fixed = start::fixed(&arguments.fix, start.as_ref())?;
    let space = program.space(&fixed)?;
    program.expect_legal(&space)?;
    program.expect_chains()?;
    let start = start.map(|start| start.configuration(&program, &space));
    let start = start.transpose()?.flatten();
    let cores = pool::thread_count();
    let model = |configuration: &Configuration| program.cycles(configuration);
    let mut processes = Processes::new(&program, task.clone(), cores, measure::patience());
    let work = processes.work();
    let shares =
        |tuned: &Tuned| limit::shares((task, &program), limits.as_ref()?, *work.get()?, tuned);
    let search = Search {
        clock,
        of_model: of_model(&space, &program, &fixed)?,
        start,
        shares: &shares,
        ..Search::of(task, asm, &program, &model)?
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

/// Writes schedules as `--schedule` takes them, or the values of a command's parameters.
fn write_json(path: &Path, found: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(found);
    let text = text.map_err(|error| Error::bug(error.to_string()))?;
    output::write(path, (text + "\n").as_bytes())
}

fn tune_command(arguments: &TuneArguments, command: &str, file: &Path) -> Result<()> {
    let source = Source::read(file)?;
    let in_file = |error: error::Error| {
        failed(error::Error {
            message: format!("{}: {}", file.display(), error.message),
            ..error
        })
    };
    let space = space::read(source.text())
        .and_then(|builder| builder.build())
        .map_err(in_file)?;
    let names = space.names().to_vec();
    let usual = Conditions::default();
    let conditions = Conditions {
        timeout: arguments.timeout.unwrap_or(usual.timeout),
        cost: ForeignCommand::cost_source(&arguments.cost).map_err(failed)?,
        // One that takes all memory ends alone.
        memory: mdh_jit::memory::available(),
        ..usual
    };
    let build = arguments.build.as_deref();
    let foreign = ForeignCommand::new(build, command, &names, &space.searched(), conditions);
    let mut foreign = foreign.map_err(failed)?;
    let asm = mdh_machine::this().map_err(Error::input)?;
    let search = Search {
        name: command.to_string(),
        unit: arguments.unit().name(),
        machine: show::machine(&asm),
        task: db::Task {
            machine: machine(&asm)?,
            program: foreign.identity(&space).map_err(failed)?,
            sizes: Sizes::default(),
        },
        of_model: Vec::new(),
        start: None,
        model: None,
        shares: &|_| None,
        clock: Monotonic::start(),
    };
    let interrupts = Interrupts::ask();
    let tuned = search.run(arguments, &space, &mut foreign, &interrupts)?;
    if let (Some(path), Some(best)) = (&arguments.out, tuned.best()) {
        write_json(path, &best.configuration.to_json())?;
    }
    if let Some(folder) = &arguments.failures {
        let text = |own: &Configuration| Some(own.to_json().to_string());
        outcome::write_failures(folder, &tuned, &text)?;
    }
    outcome::expect_whole(&tuned)?;
    interrupts.end()?;
    outcome::expect_best(arguments, command, &tuned)
}

/// One search, and what it is kept by.
struct Search<'s> {
    name: String,
    unit: &'static str,
    /// The machine in words.
    machine: String,
    task: db::Task,
    /// The model's choice, and what is near to it.
    of_model: Vec<Seed>,
    start: Option<Configuration>,
    /// Estimates, by which candidates are ranked before there are times.
    model: Option<&'s CostModel<'s>>,
    /// The shares of the machine's limit, of what was found.
    shares: &'s dyn Fn(&Tuned) -> Option<Shares>,
    clock: Monotonic,
}

impl<'s> Search<'s> {
    /// The search of a program's space.
    fn of(
        task: &Task,
        asm: &Asm,
        program: &Program,
        model: &'s CostModel<'s>,
    ) -> Result<Search<'s>> {
        Ok(Search {
            name: task.name.clone(),
            unit: show::WARM_MS,
            machine: show::machine(asm),
            task: db::Task {
                machine: machine(asm)?,
                program: program.digest.clone(),
                sizes: program.sizes.clone(),
            },
            of_model: Vec::new(),
            start: None,
            model: Some(model),
            shares: &|_| None,
            clock: Monotonic::start(),
        })
    }

    fn run(
        &self,
        arguments: &TuneArguments,
        space: &Space,
        measure: &mut dyn Measure,
        interrupts: &Interrupts,
    ) -> Result<Tuned> {
        let mut technique =
            technique::of_names(&arguments.technique, arguments.seed).map_err(failed)?;
        let mut database = database(arguments)?;
        let kept = database.evaluations(&self.task).map_err(failed)?;
        let resumed = kept.into_iter().map(Into::into).collect();
        let seeds = self.seeds(&database)?;
        let mut session = database
            .session(&self.task, &arguments.techniques(), arguments.seed)
            .map_err(failed)?;
        let abort = abort(arguments, Abort::Duration(USUAL))?;
        let mut shown = show::Shown::start(&self.name, self.unit, &abort);
        let tuned = mdh_tuner::tune::tune(Tuning {
            space,
            technique: &mut *technique,
            measure,
            abort: &abort,
            clock: &self.clock,
            interrupted: interrupts.flag(),
            seeds,
            resumed,
            model: self.model,
            confidence: CONFIDENCE,
            confirmations: CONFIRMATIONS,
            pace: (!self.unit.is_empty()).then_some(PACE),
            keep: &mut session,
            watch: &mut shown,
        });
        let tuned = tuned.map_err(failed)?;
        drop(shown);
        session.end(&tuned.stop).map_err(failed)?;
        let shares = (self.shares)(&tuned);
        output::print(match arguments.json {
            true => show::json(&self.name, space, &tuned, shares.as_ref()),
            false => show::text(
                (&self.name, self.unit),
                space,
                &tuned,
                &self.differences(&tuned),
            ),
        })?;
        if let Some(path) = &arguments.report {
            let limit = shares.and_then(|shares| shares.text());
            let page = report::html(space, &tuned, &self.texts(arguments, &tuned, limit));
            output::write(path, page.map_err(failed)?.as_bytes())?;
        }
        Ok(tuned)
    }

    /// The default, the user's start, and the best of the nearest sizes.
    fn seeds(&self, database: &Database) -> Result<Vec<Seed>> {
        let mut seeds = self.of_model.clone();
        let start = self.start.iter().cloned();
        let start = start.map(|configuration| (Role::Start, configuration));
        let nearest = database.nearest(&self.task, NEAREST).map_err(failed)?;
        let nearest = nearest.into_iter();
        let nearest = nearest.map(|(_, kept)| (Role::Nearest, kept.configuration));
        let others = start.chain(nearest).map(|(role, configuration)| Seed {
            role,
            configuration,
        });
        seeds.extend(others);
        Ok(seeds)
    }

    fn texts(
        &self,
        arguments: &TuneArguments,
        tuned: &Tuned,
        limit: Option<String>,
    ) -> ReportTexts {
        let facts = [
            ("machine", self.machine.clone()),
            ("sizes", self.task.sizes.to_string()),
            ("technique", arguments.techniques()),
            ("seed", arguments.seed.to_string()),
        ];
        ReportTexts {
            title: self.name.clone(),
            facts: facts.map(|(name, text)| (name.to_string(), text)).to_vec(),
            unit: self.unit.to_string(),
            limit,
            differences: self.differences(tuned),
            nearest: self.nearest_to_default().cloned(),
        }
    }

    fn differences(&self, tuned: &Tuned) -> Vec<String> {
        show::differences(tuned, self.nearest_to_default(), self.model.is_some())
    }

    /// The values that stand for those of a default that is none of the space's.
    fn nearest_to_default(&self) -> Option<&Configuration> {
        let mut near = self.of_model.iter().filter(|seed| seed.role == Role::Model);
        near.next().map(|seed| &seed.configuration)
    }
}

/// The model's choice, and where it is none of the space's, what is the nearest to it: the search begins from
/// that. What is fixed may leave the choice out: then it is measured for comparison only.
fn of_model(space: &Space, program: &Program, fixed: &[Fix]) -> Result<Vec<Seed>> {
    let (Some(default), Some(near)) = (program.default(), program.nearest_to_default()) else {
        return Ok(Vec::new());
    };
    let seed = |role: Role, configuration: Configuration| Seed {
        role,
        configuration,
    };
    if space.find(&default).is_ok() {
        return Ok(vec![seed(Role::Default, default)]);
    }
    let is_whole = fixed.is_empty() && program.script.is_none();
    let role = if is_whole {
        Role::Outside
    } else {
        Role::Reference
    };
    let near = space.nearest(&near).map_err(failed)?;
    let near = near.map(|point| seed(Role::Model, space.configuration(&point)));
    Ok([seed(role, default)].into_iter().chain(near).collect())
}

/// The conditions that end a search: the usual one if none is asked for.
fn abort(arguments: &TuneArguments, usual: Abort) -> Result<Abort> {
    let time = arguments.time.map(Abort::Duration);
    let evaluations = arguments.evaluations.map(Abort::Evaluations);
    let no_better = arguments.no_better_for.map(Abort::NoBetter);
    let until = arguments.until.as_deref();
    let until = until.map(|text| abort::parse(text, arguments.unit()));
    let until = until.transpose();
    let until = until.map_err(|why| Error::usage(format!("--until: {why}")))?;
    let own: Vec<Abort> = [time, evaluations, no_better, until]
        .into_iter()
        .flatten()
        .collect();
    Ok(match own.is_empty() {
        true => usual,
        false => Abort::Or(own),
    })
}

/// The database; a note says which damaged one was set aside.
fn database(arguments: &TuneArguments) -> Result<Database> {
    let folder = folder(arguments.db.as_deref())?;
    let database = Database::open(&folder).map_err(failed)?;
    if let Some(aside) = database.set_aside() {
        say(&format!("note: {aside}\n"));
    }
    Ok(database)
}

/// The folder of the database, if another one is not named.
fn folder(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = named {
        return Ok(folder.to_path_buf());
    }
    let absolute = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = || Some(absolute("HOME")?.join(".cache"));
    let cache = absolute("XDG_CACHE_HOME").or_else(home);
    let missing = || {
        Error::usage(
            "found no folder for the database: neither XDG_CACHE_HOME nor HOME is an absolute path",
        )
        .help("name a folder: --db DIR of `mdh tune`, --tuned=DIR or --from-db=DIR of others")
    };
    Ok(cache.ok_or_else(missing)?.join("mdh"))
}

/// A machine as evaluations are kept by: all that schedules see of it, and the number of threads (`MDH_THREADS`)
/// that share a run.
fn machine(asm: &Asm) -> Result<String> {
    let known = serde_json::to_value(asm);
    let mut known = known.map_err(|error| Error::bug(error.to_string()))?;
    known["threads"] = pool::thread_count().into();
    Ok(known.to_string())
}

/// A failure of the tuner as one of the command.
pub(crate) fn failed(error: error::Error) -> Error {
    let kind = match error.kind {
        error::Kind::Input => Kind::Input,
        error::Kind::Resources => Kind::Resources,
        error::Kind::Bug => Kind::Bug,
    };
    let found = Error::new(kind, error.message);
    error.help.into_iter().fold(found, Error::help)
}

#[cfg(test)]
mod tests;
