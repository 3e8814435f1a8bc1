//! One search of a program: what it begins with, what it is kept by, and what is shown of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mdh_bench::protocol::Task;
use mdh_compiler::error::{Error, Result, say};
use mdh_compiler::interrupt::Interrupts;
use mdh_compiler::output;
use mdh_compiler::progress::Reader;
use mdh_exec::racing::CONFIDENCE;
use mdh_jit::pool;
use mdh_schedule::asm::Asm;
use serde::Serialize;

use super::options::{Fix, TuneArguments};
use super::program::SearchedProgram;
use super::share_of_limit::Shares;
use super::show;
use crate::abort_condition::{self, Abort};
use crate::db::{self, Database};
use crate::measure::Measure;
use crate::report::{self, ReportTexts};
use crate::space::Space;
use crate::space::value::Configuration;
use crate::technique::{self, CostModel};
use crate::tune::{Role, Seed, Tuned, Tuning};

/// Time of a search, if nothing else ends it.
pub(super) const USUAL: Duration = Duration::from_secs(60);
/// The most configurations that are measured once more in the end.
const CONFIRMATIONS: usize = 5;
/// The time after which the default is measured again: clocks and neighbours change in seconds.
const PACE: Duration = Duration::from_secs(5);
/// The most sizes of before whose best are tried first.
pub(super) const NEAREST: usize = 3;

/// One search, and what it is kept by.
pub(super) struct Search<'s> {
    pub(super) name: String,
    /// The machine in words.
    pub(super) machine: String,
    pub(super) task: db::Task,
    /// The model's choice, and what is near to it.
    pub(super) of_model: Vec<Seed>,
    pub(super) start: Option<Configuration>,
    /// Estimates, by which candidates are ranked before there are times.
    pub(super) model: &'s CostModel<'s>,
    /// The shares of the machine's limit, of what was found.
    pub(super) shares: &'s dyn Fn(&Tuned) -> Option<Shares>,
    pub(super) clock: Instant,
}

impl<'s> Search<'s> {
    /// The search of a program's space.
    pub(super) fn new(
        task: &Task,
        asm: &Asm,
        program: &SearchedProgram,
        model: &'s CostModel<'s>,
    ) -> Result<Search<'s>> {
        Ok(Search {
            name: task.name.clone(),
            machine: show::machine(asm),
            task: db::Task {
                machine: machine(asm)?,
                program: program.digest.clone(),
                sizes: program.sizes.clone(),
            },
            of_model: Vec::new(),
            start: None,
            model,
            shares: &|_| None,
            clock: Instant::now(),
        })
    }

    pub(super) fn run(
        &self,
        arguments: &TuneArguments,
        space: &Space,
        measure: &mut dyn Measure,
        interrupts: &Interrupts,
    ) -> Result<Tuned> {
        let mut technique = technique::of_names(&arguments.technique, arguments.seed)?;
        let mut database = database(arguments)?;
        let known = database.evaluations(&self.task)?;
        let resumed = known.into_iter().map(Into::into).collect();
        let seeds = self.seeds(&database)?;
        let mut session = database.session(&self.task, &arguments.techniques(), arguments.seed)?;
        let abort = abort(arguments, Abort::Duration(USUAL))?;
        let passed = self.clock.elapsed();
        let reader = Reader::from_flag(arguments.json.is_printed());
        let mut shown = show::Shown::start(&self.name, &abort, passed, reader);
        let tuned = crate::tune::tune(Tuning {
            space,
            technique: &mut *technique,
            measure,
            abort: &abort,
            clock: &self.clock,
            interrupted: interrupts.flag(),
            seeds,
            resumed,
            model: Some(self.model),
            confidence: CONFIDENCE,
            confirmations: CONFIRMATIONS,
            pace: Some(PACE),
            keep: &mut session,
            watch: &mut shown,
        });
        let tuned = tuned?;
        drop(shown);
        session.end(&tuned.stop)?;
        let shares = (self.shares)(&tuned);
        if !arguments.json.is_printed() {
            output::print(show::text(
                &self.name,
                space,
                &tuned,
                &self.differences(&tuned),
            ))?;
        }
        let json = || show::json(&self.name, space, &tuned, shares.as_ref());
        arguments.json.add_line(json)?;
        if let Some(path) = &arguments.html {
            let limit = shares.and_then(|shares| shares.text());
            let page = report::html(space, &tuned, &self.texts(arguments, &tuned, limit));
            output::write(path, page?.as_bytes())?;
        }
        Ok(tuned)
    }

    /// The default, the user's start, and the best of the nearest sizes.
    fn seeds(&self, database: &Database) -> Result<Vec<Seed>> {
        let mut seeds = self.of_model.clone();
        let start = self.start.iter().cloned();
        let start = start.map(|configuration| (Role::Start, configuration));
        let nearest = database.nearest(&self.task, NEAREST)?;
        let nearest = nearest.into_iter();
        let nearest = nearest.map(|(_, kept)| (Role::Nearest, kept.configuration));
        let more = start.chain(nearest).map(|(role, configuration)| Seed {
            role,
            configuration,
        });
        seeds.extend(more);
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
            unit: show::WARM_MS.to_string(),
            limit,
            differences: self.differences(tuned),
            nearest: self.nearest_to_default().cloned(),
        }
    }

    fn differences(&self, tuned: &Tuned) -> Vec<String> {
        show::differences(tuned, self.nearest_to_default())
    }

    /// The values that stand for those of a default that is none of the space's.
    fn nearest_to_default(&self) -> Option<&Configuration> {
        let mut near = self.of_model.iter().filter(|seed| seed.role == Role::Model);
        near.next().map(|seed| &seed.configuration)
    }
}

/// The model's choice, and where it is none of the space's, what is the nearest to it: the search begins from
/// that. What is fixed may leave the choice out: then it is measured for comparison only.
pub(super) fn of_model(space: &Space, program: &SearchedProgram, fixed: &[Fix]) -> Vec<Seed> {
    let (Some(default), Some(near)) = (program.default(), program.nearest_to_default()) else {
        return Vec::new();
    };
    let seed = |role: Role, configuration: Configuration| Seed {
        role,
        configuration,
    };
    if space.find(&default).is_some() {
        return vec![seed(Role::Default, default)];
    }
    let is_whole = fixed.is_empty() && program.script.is_none();
    let role = if is_whole {
        Role::Outside
    } else {
        Role::Reference
    };
    let near = space.nearest(&near);
    let near = near.map(|point| seed(Role::Model, space.configuration(&point)));
    [seed(role, default)].into_iter().chain(near).collect()
}

/// The conditions that end a search: the usual one if none is asked for.
pub(super) fn abort(arguments: &TuneArguments, usual: Abort) -> Result<Abort> {
    let time = arguments.time.map(Abort::Duration);
    let evaluations = arguments.evaluations.map(Abort::Evaluations);
    let no_better = arguments.no_better_for.map(Abort::NoBetter);
    let until = arguments.until.as_deref();
    let until = until.map(abort_condition::parse).transpose();
    let until = until.map_err(|why| Error::usage(format!("--until: {why}")))?;
    let given: Vec<Abort> = [time, evaluations, no_better, until]
        .into_iter()
        .flatten()
        .collect();
    Ok(match given.is_empty() {
        true => usual,
        false => Abort::Or(given),
    })
}

/// The database; a note says which damaged one was set aside.
pub(super) fn database(arguments: &TuneArguments) -> Result<Database> {
    let folder = folder(arguments.tuned.as_deref())?;
    let database = Database::open(&folder)?;
    if let Some(aside) = database.set_aside() {
        say(&format!("note: {aside}\n"));
    }
    Ok(database)
}

/// The folder of the database, if another one is not named.
pub(super) fn folder(named: Option<&Path>) -> Result<PathBuf> {
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
        .help("name a folder: --tuned=DIR")
    };
    Ok(cache.ok_or_else(missing)?.join("mdh"))
}

/// A machine as evaluations are kept by: all that schedules see of it, and the number of threads (`MDH_THREADS`)
/// that share a run.
pub(super) fn machine(asm: &Asm) -> Result<String> {
    let known = serde_json::to_value(asm);
    let mut known = known.map_err(|error| Error::bug(error.to_string()))?;
    known["threads"] = pool::thread_count().into();
    Ok(known.to_string())
}

/// Writes schedules as `--schedule` takes them.
pub(super) fn write_json(path: &Path, found: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(found);
    let text = text.map_err(|error| Error::bug(error.to_string()))?;
    output::write(path, (text + "\n").as_bytes())
}
