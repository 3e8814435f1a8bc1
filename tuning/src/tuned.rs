//! `--tuned`: the schedules of a program that the database has, or has for the nearest sizes.
//!
//! A configuration stands for a schedule only in the space of its program: what is none of it, or
//! breaks a rule there, is left out, and the model chooses as without the option.

use std::collections::BTreeMap;

use mdh_algebra::schedule::gpu::Gpu;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::tuned::{Choice, Find, Found, Machine, Origin, Taken, TunedSizes, Wanted};
use mdh_cuda::Capability;
use mdh_dialect::ir::Op;
use mdh_dialect::schedule;
use mdh_tuner::db::{self, Database, Kept, Sizes};
use mdh_tuner::tune::Role;

use crate::program::Program;
use crate::{NEAREST, failed, import, show};

/// Functions that find schedules for the compiler.
pub const FIND: Find = Find {
    nearest: find,
    exact,
    sizes,
};

/// Finds schedules for a function whose computations are formed.
fn find(function: Op, wanted: &Wanted) -> Result<Found> {
    let computations = schedule::computations(function);
    let folder = crate::folder(wanted.folder.as_deref())?;
    let Some(database) = Database::read(&folder).map_err(failed)? else {
        let why = match folder.is_dir() {
            true => "where there is no database",
            false => "which does not exist",
        };
        return Ok(untuned(&format!("{}, {why}", folder.display()), wanted));
    };
    let (_, evaluations) = database.counts().map_err(failed)?;
    let place = format!(
        "{}, which has {evaluations} evaluations of other programs or machines",
        folder.display()
    );
    let on_machine = match &wanted.machine {
        Machine::Cpu(asm) => Some((Program::of(&computations, asm)?, crate::machine(asm)?)),
        Machine::Gpu { name, chip } => {
            let gpu = GpuWanted {
                name: name.as_deref(),
                chip: *chip,
            };
            gpu.program(&database, &computations)?
        }
    };
    let Some((program, machine)) = on_machine else {
        return Ok(untuned(&place, wanted));
    };
    if let Some(why) = program.nothing() {
        return Ok(nothing(why, "give one with --schedule".to_string()));
    }
    let task = task(&program, machine);
    let best = database.best(&task).map_err(failed)?;
    let best = best.map(|kept| (None, kept)).into_iter();
    let nearest = database.nearest(&task, NEAREST).map_err(failed)?;
    let nearest = nearest.into_iter().map(|(sizes, kept)| (Some(sizes), kept));
    let mut all = best.chain(nearest).peekable();
    if all.peek().is_none() {
        return Ok(untuned(&place, wanted));
    }
    let program = chained(program, &computations, &wanted.machine)?;
    for (sizes, kept) in all {
        if let Some(choice) = choice(&program, sizes.is_some(), &kept) {
            let taken = taken(&choice, sizes, &kept);
            return Ok(Found { choice, taken });
        }
    }
    let place = format!(
        "{}, whose schedules for other sizes, or of another version of mdh, do not fit it",
        folder.display()
    );
    Ok(untuned(&place, wanted))
}

/// The same of its own sizes, on a processor.
fn exact(function: Op, wanted: &Wanted) -> Result<Found> {
    let none = |why: &str| Ok(nothing(why.to_string(), "`mdh tune` tunes it".to_string()));
    let Some((database, program, machine)) = on_processor(function, wanted)? else {
        return none("nothing is tuned");
    };
    let best = database.best(&task(&program, machine)).map_err(failed)?;
    let Some(kept) = best else {
        return none("all that was kept for it has failed");
    };
    let program = chained(program, &schedule::computations(function), &wanted.machine)?;
    match choice(&program, false, &kept) {
        Some(choice) => Ok(Found {
            taken: taken(&choice, None, &kept),
            choice,
        }),
        None => none(&program.misfit(&kept.configuration)),
    }
}

/// The database, a function's computations, and the processor that they are for; none for a GPU, and where there
/// is no database.
fn on_processor(function: Op, wanted: &Wanted) -> Result<Option<(Database, Program, String)>> {
    let Machine::Cpu(asm) = &wanted.machine else {
        return Ok(None);
    };
    let folder = crate::folder(wanted.folder.as_deref())?;
    let Some(database) = Database::read(&folder).map_err(failed)? else {
        return Ok(None);
    };
    let program = Program::of(&schedule::computations(function), asm)?;
    Ok(Some((database, program, crate::machine(asm)?)))
}

fn task(program: &Program, machine: String) -> db::Task {
    db::Task {
        machine,
        program: program.digest.clone(),
        sizes: program.sizes.clone(),
    }
}

/// The sizes that a function was tuned for on a processor, the latest first.
fn sizes(function: Op, wanted: &Wanted) -> Result<Vec<TunedSizes>> {
    let Some((database, program, machine)) = on_processor(function, wanted)? else {
        return Ok(Vec::new());
    };
    let all = database.sizes(&program.digest, &machine);
    let closed = all.map_err(failed)?.into_iter();
    let closed = closed.filter(|sizes| sizes.0.values().all(|size| *size >= 0));
    let found = closed.map(|sizes| TunedSizes {
        text: words(&sizes),
        sizes: sizes.0,
    });
    Ok(found.collect())
}

/// A program with the chains that are searched on a machine.
fn chained(program: Program, computations: &[Op], machine: &Machine) -> Result<Program> {
    match machine {
        Machine::Cpu(asm) => program.with_chains(computations, asm),
        Machine::Gpu { .. } => Ok(program),
    }
}

/// The schedules of what was kept, if they fit a program.
fn choice(program: &Program, is_nearest: bool, kept: &Kept) -> Option<Choice> {
    // The model chooses for the sizes of the program: its choice for others is none for these.
    // What is kept has its names in another order.
    let default = program.default().map(|default| default.key());
    let is_model = default == Some(kept.configuration.key())
        || is_nearest && kept.technique == Role::Default.name();
    match is_model {
        true => program.model().map(Choice::Model),
        false => program.fitting(&kept.configuration).map(Choice::Kept),
    }
}

fn taken(choice: &Choice, sizes: Option<Sizes>, kept: &Kept) -> Taken {
    let time_ms = kept.outcome.cost();
    let time = time_ms.map_or(String::new(), |ms| show::number(ms, "ms"));
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
        let own = name.split_once('.').map_or(name.as_str(), |(_, own)| own);
        if *short.entry(own).or_insert(*size) != *size {
            return sizes.to_string();
        }
    }
    Sizes::of(short).to_string()
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

/// Nothing is tuned for a program in a folder.
fn untuned(place: &str, wanted: &Wanted) -> Found {
    let folder = wanted.folder.as_ref();
    let folder = folder.map_or(String::new(), |folder| {
        format!(" --db {}", folder.display())
    });
    let help = match wanted.machine {
        Machine::Cpu(_) => format!("`mdh tune FILE{folder}` tunes it"),
        Machine::Gpu { .. } => format!(
            "`mdh tune FILE --device cuda --package DIR`, `mdh-exec --tune` on the GPU and `mdh tune \
             --import RESULTS.json{folder}` tune it"
        ),
    };
    let found = format!("nothing is tuned for this program in {place}");
    nothing(found, help)
}

/// A GPU, as far as a command knows it.
struct GpuWanted<'w> {
    name: Option<&'w str>,
    chip: Option<Capability>,
}

impl GpuWanted<'_> {
    /// The program and the machine of the only GPU that is wanted on which it was tuned.
    fn program(
        &self,
        database: &Database,
        computations: &[Op],
    ) -> Result<Option<(Program, String)>> {
        let of = |gpu: Gpu| Program::of(computations, &gpu.asm());
        let program = of(facts("", self.chip)?)?;
        let machines = database.machines(&program.digest).map_err(failed)?;
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
            [(machine, name, chip)] => Ok(Some((of(facts(name, Some(*chip))?)?, machine.clone()))),
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
    let found = named.or_else(|| Gpu::named(usual));
    found.ok_or_else(|| Error::bug(format!("'{usual}' is no GPU")))
}
