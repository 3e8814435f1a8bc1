//! `--tuned`: the schedules of a program that the database has, or has for the nearest sizes.
//!
//! A configuration stands for a schedule only in the space of its program: what is none of it, or
//! breaks a rule there, is left out, and the model chooses as without the option.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::host::Host;
use mdh_compiler::tuned::{Choice, Find, Found, Machine, Origin, Taken, TunedSizes, Wanted};
use mdh_cuda::Capability;
use mdh_dialect::ir::Op;
use mdh_dialect::{marks, schedule};
use mdh_schedule::SearchedParts;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;

use super::program::SearchedProgram;
use super::search::NEAREST;
use super::{import, show};
use crate::db::{self, Database, Kept, Sizes};
use crate::digits::{rounded, shown};
use crate::tune::Role;

/// Functions that find schedules for the compiler.
pub const FIND: Find = Find {
    nearest: find,
    exact,
    sizes,
};

/// Returns the file of the usual database, which need not be there: what is compiled with schedules of it changes when
/// it does.
pub fn database() -> Result<PathBuf> {
    Ok(super::search::folder(None)?.join(db::FILE))
}

/// The host of a program that takes schedules which were tuned without being asked to: a user who has no folder for
/// them has none.
///
/// # Errors
/// If the file that `MDH_ASM` names describes no machine.
pub fn host() -> Result<Host> {
    match database() {
        Ok(_) => Host::with_tuned(&FIND),
        Err(_) => Host::this(),
    }
}

/// Finds schedules for a function whose computations are formed: the best of those that fit it, of its own
/// sizes, or else of the nearest ones.
fn find(function: Op, wanted: &Wanted) -> Result<Found> {
    let Some(known) = on_machine(function, wanted)? else {
        return nowhere(wanted);
    };
    let Some(subject) = known.subject else {
        return Ok(untuned(&others(&known.database, wanted)?, wanted));
    };
    let named = || {
        marks::SCHEDULES
            .is_on(function)
            .then(|| "the function has schedules".to_string())
    };
    if let Some(why) = subject.program.nothing().or_else(named) {
        return Ok(nothing(why, "give one with --schedule".to_string()));
    }
    let task = subject.task();
    let ranked = known.database.ranked(&task)?;
    let nearest = known.database.ranked_nearest(&task, NEAREST);
    let nearest = nearest?;
    if ranked.is_empty() && nearest.is_empty() {
        let sizes = known_sizes(&known.database, &task)?;
        return match task.sizes.are_known() || sizes.is_empty() {
            true => Ok(untuned(&others(&known.database, wanted)?, wanted)),
            false => left_open(&sizes, wanted),
        };
    }
    let spaces = Spaces::new(subject, function, wanted)?;
    let ranked = ranked.into_iter().map(|kept| (None, kept));
    let nearest = nearest.into_iter().flat_map(|(sizes, ranked)| {
        ranked
            .into_iter()
            .map(move |kept| (Some(sizes.clone()), kept))
    });
    for (sizes, kept) in ranked.chain(nearest) {
        if let Some(choice) = spaces.choice(sizes.is_some(), &kept)? {
            let taken = taken(&choice, sizes, &kept);
            return Ok(Found { choice, taken });
        }
    }
    let place = format!(
        "{}, whose schedules for other sizes, or of another version of mdh, do not fit it",
        folder(wanted)?.display()
    );
    Ok(untuned(&place, wanted))
}

/// The same of its own sizes.
fn exact(function: Op, wanted: &Wanted) -> Result<Found> {
    let none = |why: &str| Ok(nothing(why.to_string(), "`mdh tune` tunes it".to_string()));
    let known = on_machine(function, wanted)?;
    let known = known.and_then(|known| Some((known.database, known.subject?)));
    let Some((database, subject)) = known else {
        return none("nothing is tuned");
    };
    if marks::SCHEDULES.is_on(function) {
        return none("the function has schedules");
    }
    let ranked = database.ranked(&subject.task())?;
    let Some(best) = ranked.first() else {
        return none("all that was kept for it has failed");
    };
    let spaces = Spaces::new(subject, function, wanted)?;
    for kept in &ranked {
        if let Some(choice) = spaces.choice(false, kept)? {
            let taken = taken(&choice, None, kept);
            return Ok(Found { choice, taken });
        }
    }
    none(&spaces.usual.misfit(&best.configuration))
}

/// The sizes that a function was tuned for, the latest first.
fn sizes(function: Op, wanted: &Wanted) -> Result<Vec<TunedSizes>> {
    let known = on_machine(function, wanted)?;
    let known = known.and_then(|known| Some((known.database, known.subject?)));
    let Some((database, subject)) = known else {
        return Ok(Vec::new());
    };
    let sizes = known_sizes(&database, &subject.task())?.into_iter();
    let sizes = sizes.map(|sizes| TunedSizes {
        text: words(&sizes),
        sizes: sizes.0,
    });
    Ok(sizes.collect())
}

/// A database, and a function as it is kept there.
struct Known {
    database: Database,
    /// None for a GPU that has nothing of it.
    subject: Option<Subject>,
}

/// A function's computations on a machine.
struct Subject {
    program: SearchedProgram,
    asm: Asm,
    /// The machine that they are kept for.
    machine: String,
}

impl Subject {
    fn new(computations: &[Op], asm: Asm, machine: String) -> Result<Subject> {
        let program = SearchedProgram::new(computations, &asm, SearchedParts::Model)?;
        Ok(Subject {
            program,
            asm,
            machine,
        })
    }

    fn task(&self) -> db::Task {
        db::Task {
            machine: self.machine.clone(),
            program: self.program.digest.clone(),
            sizes: self.program.sizes.clone(),
        }
    }
}

/// The database, a function's computations, and the machine that they are for; none where there is no database.
fn on_machine(function: Op, wanted: &Wanted) -> Result<Option<Known>> {
    let Some(database) = Database::read(&folder(wanted)?)? else {
        return Ok(None);
    };
    let computations = schedule::computations(function);
    let subject = match &wanted.machine {
        Machine::Cpu(asm) => {
            let machine = super::search::machine(asm)?;
            Some(Subject::new(&computations, Asm::clone(asm), machine)?)
        }
        Machine::Gpu { name, chip } => {
            let gpu = GpuWanted {
                name: name.as_deref(),
                chip: *chip,
            };
            gpu.subject(&database, &computations)?
        }
    };
    Ok(Some(Known { database, subject }))
}

fn folder(wanted: &Wanted) -> Result<PathBuf> {
    super::search::folder(wanted.folder.as_deref())
}

/// The sizes that a task's program was tuned for, where none was left open; the latest first.
fn known_sizes(database: &Database, task: &db::Task) -> Result<Vec<Sizes>> {
    let sizes = database.sizes(&task.program, &task.machine);
    let sizes = sizes?.into_iter();
    Ok(sizes.filter(Sizes::are_known).collect())
}

/// The spaces that what is kept of a function may be of, with the chains that are searched on a machine.
struct Spaces<'s> {
    /// That of the model's parts of dimensions.
    usual: SearchedProgram,
    /// That of all parts, once it is asked for.
    all: OnceCell<SearchedProgram>,
    asm: Asm,
    function: Op<'s>,
    wanted: &'s Wanted,
}

impl<'s> Spaces<'s> {
    fn new(subject: Subject, function: Op<'s>, wanted: &'s Wanted) -> Result<Spaces<'s>> {
        let computations = schedule::computations(function);
        Ok(Spaces {
            usual: chained(subject.program, &computations, &subject.asm, wanted)?,
            all: OnceCell::new(),
            asm: subject.asm,
            function,
            wanted,
        })
    }

    /// The schedules of what was kept, if they fit the function.
    fn choice(&self, is_nearest: bool, kept: &Kept) -> Result<Option<Choice>> {
        // The model chooses for the sizes of the program: its choice for others is none for these.
        // What is kept has its names in another order.
        let default = self.usual.default().map(|default| default.key());
        let is_model = default == Some(kept.configuration.key())
            || is_nearest && kept.technique == Role::Default.name();
        if is_model {
            return Ok(self.usual.model().map(Choice::Model));
        }
        let usual = self.usual.fitting(&kept.configuration);
        let fitting = match usual {
            Some(usual) => Some(usual),
            // What is of other parameters is of another version, mostly: their spaces take long to be made.
            None if is_nearest && !self.usual.is_whole(&kept.configuration) => None,
            None => self.all()?.fitting(&kept.configuration),
        };
        Ok(fitting.map(Choice::Kept))
    }

    fn all(&self) -> Result<&SearchedProgram> {
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let computations = schedule::computations(self.function);
        let program = SearchedProgram::new(&computations, &self.asm, SearchedParts::All)?;
        let program = chained(program, &computations, &self.asm, self.wanted)?;
        Ok(self.all.get_or_init(|| program))
    }
}

/// A program with the chains that are searched on a machine.
fn chained(
    program: SearchedProgram,
    computations: &[Op],
    asm: &Asm,
    wanted: &Wanted,
) -> Result<SearchedProgram> {
    match wanted.machine {
        Machine::Cpu(_) => program.with_chains(computations, asm),
        Machine::Gpu { .. } => Ok(program),
    }
}

fn taken(choice: &Choice, sizes: Option<Sizes>, kept: &Kept) -> Taken {
    let time_ms = kept.outcome.cost().map(rounded);
    let time = time_ms.map_or(String::new(), |ms| shown(ms, show::WARM_MS));
    let measured = format!("{time} on {}", kept.date);
    let note = match (choice, &sizes) {
        (Choice::Model(_), None) => {
            format!("the schedule is the model's, the best that was tuned: {measured}")
        }
        (Choice::Model(_), Some(sizes)) => format!(
            "the schedule is the model's, whose was the best of the nearest tuned sizes {}: {measured}",
            words(sizes)
        ),
        (_, None) => format!("the schedule is tuned: {measured}"),
        (_, Some(sizes)) => format!(
            "the schedule is that of the nearest tuned sizes {}: {measured}",
            words(sizes)
        ),
    };
    Taken {
        from: match (choice, &sizes) {
            (Choice::Model(_), _) => Origin::Model,
            (_, None) => Origin::Tuned,
            (_, Some(_)) => Origin::Nearest,
        },
        time_ms,
        date: Some(kept.date.clone()),
        sizes: sizes.map(|sizes| sizes.0),
        measured,
        note,
    }
}

/// Sizes without the positions of computations, where dimensions of one name have one size.
fn words(sizes: &Sizes) -> String {
    let mut short = BTreeMap::new();
    for (name, size) in &sizes.0 {
        let short_name = name
            .split_once('.')
            .map_or(name.as_str(), |(_, short_name)| short_name);
        if *short.entry(short_name).or_insert(*size) != *size {
            return sizes.to_string();
        }
    }
    Sizes::new(short).to_string()
}

fn nothing(found: String, help: String) -> Found {
    let note = format!("{found}: the schedule is as without --tuned; {help}");
    Found {
        choice: Choice::Nothing { found, help },
        taken: Taken {
            from: Origin::Model,
            time_ms: None,
            date: None,
            sizes: None,
            measured: String::new(),
            note,
        },
    }
}

/// There is no database.
fn nowhere(wanted: &Wanted) -> Result<Found> {
    let folder = folder(wanted)?;
    let why = match folder.is_dir() {
        true => "where there is no database",
        false => "which does not exist",
    };
    Ok(untuned(&format!("{}, {why}", folder.display()), wanted))
}

/// A folder whose database has nothing of a program.
fn others(database: &Database, wanted: &Wanted) -> Result<String> {
    let (_, evaluations) = database.counts()?;
    Ok(format!(
        "{}, which has {evaluations} evaluations of other programs or machines",
        folder(wanted)?.display()
    ))
}

/// Nothing is tuned for a program in a folder.
fn untuned(place: &str, wanted: &Wanted) -> Found {
    let help = match wanted.machine {
        Machine::Cpu(_) => format!("`mdh tune FILE{}` tunes it", as_option(wanted)),
        Machine::Gpu { .. } => format!(
            "`mdh tune FILE --device cuda --package DIR`, `mdh-exec --tune` on the GPU and `mdh tune \
             --import RESULTS.json{}` tune it",
            as_option(wanted)
        ),
    };
    let message = format!("nothing is tuned for this program in {place}");
    nothing(message, help)
}

/// Some sizes are tuned for a program, which leaves them open.
fn left_open(sizes: &[Sizes], wanted: &Wanted) -> Result<Found> {
    let shown: Vec<String> = sizes.iter().take(NEAREST).map(words).collect();
    let more = match sizes.len() - shown.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!(
        "nothing is tuned for this program with its sizes left open in {}, which has schedules for {}{more}",
        folder(wanted)?.display(),
        shown.join("; ")
    );
    let help = match wanted.machine {
        Machine::Cpu(_) => format!(
            "--size names sizes, and `mdh tune FILE{}` without it leaves them open",
            as_option(wanted)
        ),
        Machine::Gpu { .. } => "--size names sizes".to_string(),
    };
    Ok(nothing(message, help))
}

/// The option of `mdh tune` for the same database.
fn as_option(wanted: &Wanted) -> String {
    let folder = wanted.folder.as_ref();
    folder.map_or(String::new(), |folder| {
        format!(" --tuned {}", folder.display())
    })
}

/// A GPU, as far as a command knows it.
struct GpuWanted<'w> {
    name: Option<&'w str>,
    chip: Option<Capability>,
}

impl GpuWanted<'_> {
    /// The program on the only GPU that is wanted on which it was tuned.
    fn subject(&self, database: &Database, computations: &[Op]) -> Result<Option<Subject>> {
        let subject_of = |gpu: Gpu, machine: String| Subject::new(computations, gpu.asm(), machine);
        let subject = subject_of(facts("", self.chip)?, String::new())?;
        let machines = database.machines(&subject.program.digest)?;
        let gpus = machines.into_iter().filter_map(|machine| {
            let (name, chip) = import::gpu(&machine)?;
            Some((machine, name, chip))
        });
        let mut gpus: Vec<_> = gpus
            .filter(|(_, name, chip)| self.is_it(name, *chip))
            .collect();
        if gpus.iter().any(|(_, name, _)| self.name == Some(name)) {
            gpus.retain(|(_, name, _)| self.name == Some(name));
        }
        match &gpus[..] {
            [] => Ok(None),
            [(machine, name, chip)] => {
                subject_of(facts(name, Some(*chip))?, machine.clone()).map(Some)
            }
            several => {
                let names = several
                    .iter()
                    .map(|(_, name, chip)| format!("'{name}' ({chip})"));
                let names: Vec<String> = names.collect();
                Err(Error::input(format!(
                    "found schedules that were tuned on several GPUs: {}; expected to know which one \
                     is meant",
                    names.join(", ")
                ))
                .help(
                    "name its chip with --chip, or have `mdh tune FILE --import RESULTS.json --out \
                     S.json` write those of one, for --schedule S.json",
                ))
            }
        }
    }

    fn is_it(&self, name: &str, chip: Capability) -> bool {
        let is_named = |wanted: &str| name.to_lowercase().contains(&wanted.to_lowercase());
        let number = |chip: Capability| (chip.major, chip.minor);
        self.name.is_none_or(is_named) && self.chip.is_none_or(|own| number(own) == number(chip))
    }
}

/// The facts of a GPU that spaces are made of: of the one in its name, or of one with such a chip.
fn facts(name: &str, chip: Option<Capability>) -> Result<Gpu> {
    let name = name.to_lowercase();
    let named = Gpu::ALL.into_iter().find(|gpu| name.contains(gpu.name));
    let usual = match chip.map(|chip| chip.major) {
        Some(8) => "a100",
        Some(10) => "b200",
        _ => "h100",
    };
    let gpu = named.or_else(|| Gpu::named(usual));
    gpu.ok_or_else(|| Error::bug(format!("'{usual}' is no GPU")))
}
