//! `mdh tune --device cuda`: the search for a GPU that is not here.
//!
//! The space of schedules is searched by the estimate, and the best schedules that differ go into a
//! package with the default ([`package`]). `mdh-exec --tune` measures it where a GPU is, and what
//! it writes becomes rows of the database (`import`).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mdh_bench::protocol::Task;
use mdh_compiler::error::{Error, ErrorKind, Result};
use mdh_compiler::formed::Formed;
use mdh_compiler::interrupt::Interrupts;
use mdh_compiler::package::{self, Wanted};
use mdh_compiler::progress::{Progress, Reader};
use mdh_compiler::{diagnostics, output};
use mdh_dialect::context;
use mdh_exec::Package;
use mdh_exec::racing::CONFIDENCE;
use mdh_exec::tune::package::{Candidate, TunePackage};
use mdh_jit::pool;
use mdh_passes::pipelines::{RangeChecks, Schedules};
use mdh_schedule::gpu::Gpu;

use super::nearest_schedule;
use super::options::TuneArguments;
use super::package_names::{self, Variant};
use super::program::SearchedProgram;
use crate::abort_condition::Abort;
use crate::measure::{Computed, FailureKind, Outcome};
use crate::space::Space;
use crate::space::value::Configuration;
use crate::technique;
use crate::tune::{Seed, Standing, Tuned, Tuning, Watch};

/// Schedules that are estimated, if nothing else ends the search.
const EVALUATIONS: u64 = 4000;
/// Schedules whose estimate is so many times that of the best are taken where there are no others.
const WORSE: f64 = 3.0;
/// Knobs in which schedules of a package differ at least, if there are enough of these.
const APART: usize = 4;

/// Writes packages of the best schedules of programs.
pub fn make(arguments: &TuneArguments, folder: &Path, tasks: &[Task]) -> Result<()> {
    let gpu = gpu(arguments)?;
    arguments.kernel_chip()?;
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| Error::input(format!("cannot write to '{}': {error}", folder.display())))?;
    let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
    let variant = Variant {
        entry: arguments.entry.as_deref(),
        sizes: &arguments.size,
    };
    // What was estimated by the time of an interrupt becomes a package still.
    let interrupts = Interrupts::ask();
    for (task, file) in tasks.iter().zip(package_names::files(&names, &variant)) {
        let (package, said) = package(arguments, task, &gpu, &interrupts)?;
        let bytes = package.write();
        let path = folder.join(file);
        output::write(&path, &bytes)?;
        let size = bytes.len() as f64 / (1 << 20) as f64;
        output::print(format!("{said}  {}: {size:.1} MiB\n", path.display()))?;
        if interrupts.flag().load(Ordering::Relaxed) {
            break;
        }
    }
    interrupts.end()
}

/// The GPU whose facts estimates are made of.
fn gpu(arguments: &TuneArguments) -> Result<Gpu> {
    let named = arguments.machine.gpu()?;
    named.ok_or_else(|| Error::bug("a package without a GPU"))
}

/// The package of a program, and what there is to say of it.
fn package(
    arguments: &TuneArguments,
    task: &Task,
    gpu: &Gpu,
    interrupts: &Interrupts,
) -> Result<(TunePackage, String)> {
    let context = context::program_context();
    let source = task.source()?;
    let (entry, wanted) = (task.entry.as_deref(), arguments.parts.searched());
    let program = SearchedProgram::read(&context, &source, entry, &gpu.asm(), wanted)?;
    program.expect_some(&task.name)?;
    let fixed = nearest_schedule::fixed(&arguments.fix, None)?;
    let space = program.space(&fixed)?;
    let progress = Progress::start(Reader::Person, &format!("{}: estimating", task.name));
    let default = program.default();
    let seeds = super::search::of_model(&space, &program, &fixed);
    let tuned = search(
        arguments,
        &space,
        (&program, gpu),
        seeds,
        (interrupts, &progress),
    )?;
    let best = best(&tuned, default.as_ref(), &program, arguments.best);
    if best.is_empty() && interrupts.flag().load(Ordering::Relaxed) {
        return Err(Error::new(ErrorKind::Interrupted, ""));
    }
    if best.is_empty() {
        let has_none = default
            .as_ref()
            .is_none_or(|own| program.estimate(own, gpu).is_none());
        return Err(match has_none {
            true => without_estimate(&task.name, &program),
            false => Error::input(format!(
                "'{}': there is no schedule but the model's",
                task.name
            )),
        });
    }
    progress.step(&format!("{}: compiling", task.name));
    let package = compiled(
        arguments,
        task,
        &program,
        (default.as_ref(), best),
        &progress,
    )?;
    drop(progress);
    let said = said(&task.name, &package, &tuned, &space);
    Ok((package, said))
}

/// The error of a program none of whose schedules has an estimate.
fn without_estimate(name: &str, program: &SearchedProgram) -> Error {
    let sizes = program.sizes.0.iter().filter(|(_, size)| **size < 0);
    let name_of = |(name, _): (&String, _)| {
        let dimension = name
            .split_once('.')
            .map_or(name.as_str(), |(_, dimension)| dimension);
        format!("{dimension}=N")
    };
    let open: BTreeSet<String> = sizes.map(name_of).collect();
    let open: Vec<String> = open.into_iter().collect();
    if open.is_empty() {
        return Error::input(format!("'{name}': no schedule has an estimate"));
    }
    Error::input(format!(
        "'{name}': no schedule has an estimate, since sizes are not known: expected a program with \
         static sizes, or --size {}",
        open.join(" ")
    ))
}

/// A line about the search, and one for each schedule that does not compile.
fn said(name: &str, package: &TunePackage, tuned: &Tuned, space: &Space) -> String {
    let candidates = &package.manifest.candidates;
    let rejected = tuned.rejections.as_ref();
    let rejected = rejected.map_or(String::new(), |own| {
        format!(
            ", {:.0} % of what was proposed breaks a rule",
            own.share() * 100.0
        )
    });
    let mut said = format!(
        "{name}: the best {} of {} estimates in {:.1} s, of {}{rejected}\n",
        candidates.len().saturating_sub(1),
        tuned.evaluations.len(),
        tuned.elapsed.as_secs_f64(),
        super::show::configurations(space),
    );
    for why in candidates.iter().filter_map(|one| one.failure.as_deref()) {
        let line = why.lines().next().unwrap_or_default();
        said += &format!("  one does not compile: {line}\n");
    }
    said
}

/// Searches the space by the estimate.
fn search(
    arguments: &TuneArguments,
    space: &Space,
    (program, gpu): (&SearchedProgram, &Gpu),
    seeds: Vec<Seed>,
    (interrupts, progress): (&Interrupts, &Progress),
) -> Result<Tuned> {
    let abort = super::search::abort(arguments, Abort::Evaluations(EVALUATIONS))?;
    if let Some(limit) = abort.latest() {
        progress.limit(limit, Duration::ZERO);
    }
    let mut technique = technique::of_names(&arguments.technique, arguments.seed)?;
    let mut measure = Computed::new(16, |configuration| {
        match program.estimate(configuration, gpu) {
            Some(seconds) => Outcome::of_cost(seconds * 1e3),
            None => Outcome::failed(FailureKind::Rejected, "it has no estimate"),
        }
    });
    crate::tune::tune(Tuning {
        space,
        technique: &mut *technique,
        measure: &mut measure,
        abort: &abort,
        clock: &Instant::now(),
        interrupted: interrupts.flag(),
        seeds,
        resumed: Vec::new(),
        // The estimate is what is measured.
        model: None,
        confidence: CONFIDENCE,
        confirmations: 0,
        pace: None,
        keep: &mut (),
        watch: &mut Estimated {
            most: abort.most_evaluations(),
            progress,
        },
    })
}

/// Shows how many schedules have an estimate.
struct Estimated<'p> {
    most: Option<u64>,
    progress: &'p Progress,
}

impl Watch for Estimated<'_> {
    fn stands(&mut self, standing: &Standing) {
        if let Some(most) = self.most {
            self.progress
                .share(standing.evaluations.min(most), most, "estimates");
        }
    }
}

/// A configuration with its estimate in milliseconds.
type Ranked = (Configuration, Option<f64>);

/// The configurations with the least estimates that differ: first those that differ in several knobs,
/// since whose estimates are alike are often alike.
fn best(
    tuned: &Tuned,
    default: Option<&Configuration>,
    program: &SearchedProgram,
    count: usize,
) -> Vec<Ranked> {
    let timed = tuned.evaluations.iter();
    let timed = timed.filter_map(|one| Some((&one.configuration, one.outcome.cost()?)));
    let mut timed: Vec<(&Configuration, f64)> = timed.collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let least = timed.first().map_or(0.0, |first| first.1);
    let good = timed.partition_point(|(_, ms)| *ms <= WORSE * least);
    timed.truncate(good.max(2 * count));
    let text = |of: &Configuration| {
        program
            .schedules(of)
            .map(|schedules| format!("{schedules:?}"))
    };
    let mut seen: BTreeSet<Option<String>> = default.map(text).into_iter().collect();
    let mut taken: Vec<(&Configuration, f64)> = Vec::new();
    for apart in (0..=APART).rev() {
        for (configuration, ms) in &timed {
            let differ = |other: &Configuration| {
                let pairs = configuration.pairs();
                pairs
                    .filter(|(name, value)| other.get(name) != Some(value))
                    .count()
            };
            let is_apart = taken.iter().all(|(other, _)| differ(other) >= apart);
            let is_new = taken.len() < count && is_apart && default != Some(*configuration);
            if is_new && seen.insert(text(configuration)) {
                taken.push((configuration, *ms));
            }
        }
    }
    taken.sort_by(|a, b| a.1.total_cmp(&b.1));
    let measured = taken.into_iter();
    measured
        .map(|(configuration, ms)| (configuration.clone(), Some(ms)))
        .collect()
}

/// Compiles the default and the others, on all cores.
fn compiled(
    arguments: &TuneArguments,
    task: &Task,
    program: &SearchedProgram,
    (default, best): (Option<&Configuration>, Vec<Ranked>),
    progress: &Progress,
) -> Result<TunePackage> {
    let first = make_one(arguments, task, None)?;
    let gpu = gpu(arguments)?;
    let sizes = program.sizes.0.clone();
    let common = first.manifest.clone();
    let mut package = TunePackage::new(&task.name, &program.digest, sizes, common);
    if let Some(default) = default {
        let ms = program.estimate(default, &gpu).map(|seconds| seconds * 1e3);
        let candidate = candidate(program, default, ms, true)?;
        added(package.add(candidate, Ok(first)))?;
    }
    let made: Mutex<Vec<Option<std::result::Result<Package, String>>>> =
        Mutex::new(best.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let cores = pool::thread_count();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(best.len()) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some((configuration, _)) = best.get(n) else {
                        return;
                    };
                    let compiled = with_schedules(arguments, task, program, configuration);
                    let compiled = compiled.map_err(|error| error.message().to_string());
                    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                    made[n] = Some(compiled);
                    let done = made.iter().flatten().count() as u64;
                    progress.share(done, best.len() as u64, "schedules");
                }
            });
        }
    });
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((configuration, ms), one) in best.iter().zip(made) {
        let compiled = one.unwrap_or_else(|| Err("a panic of the compiler".to_string()));
        added(package.add(candidate(program, configuration, *ms, false)?, compiled))?;
    }
    Ok(package)
}

fn added(done: mdh_exec::Result<()>) -> Result<()> {
    done.map_err(|error| Error::bug(error.message))
}

fn candidate(
    program: &SearchedProgram,
    configuration: &Configuration,
    estimate_ms: Option<f64>,
    is_default: bool,
) -> Result<Candidate> {
    let schedules = program.written(configuration);
    let schedules = serde_json::to_value(&schedules);
    Ok(Candidate {
        is_default,
        configuration: configuration.to_json(),
        schedules: schedules.map_err(|error| Error::bug(error.to_string()))?,
        estimate_ms,
        code: None,
        failure: None,
    })
}

fn with_schedules(
    arguments: &TuneArguments,
    task: &Task,
    program: &SearchedProgram,
    configuration: &Configuration,
) -> Result<Package> {
    let failed = |error: std::io::Error| Error::of_system(format!("no temporary file: {error}"));
    let schedules = serde_json::to_string(&program.schedules(configuration));
    let schedules = schedules.map_err(|error| Error::bug(error.to_string()))?;
    let file = tempfile::Builder::new()
        .suffix(".json")
        .tempfile()
        .map_err(failed)?;
    std::fs::write(file.path(), schedules).map_err(failed)?;
    make_one(arguments, task, Some(file.path()))
}

/// The package of a program with the schedules of a file, or of the model.
fn make_one(arguments: &TuneArguments, task: &Task, schedules: Option<&Path>) -> Result<Package> {
    let context = context::program_context();
    let source = task.source()?;
    diagnostics::show(&context, &source);
    let formed = Formed::new(&context, &source, task.entry.as_deref())?;
    formed.apply(schedules)?;
    let wanted = Wanted {
        chip: arguments.kernel_chip()?,
        seed: 0,
        size: Vec::new(),
        ranges: task.ranges.clone(),
        samples: if task.samples > 0 {
            task.samples
        } else {
            package::SAMPLES
        },
        checks: RangeChecks::On,
        schedules: Schedules::Default,
        expects_strong: false,
        fallback: None,
    };
    let bytes = package::emit(&context, &formed, &wanted)?;
    Package::read(&bytes).map_err(|error| Error::bug(error.message))
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
