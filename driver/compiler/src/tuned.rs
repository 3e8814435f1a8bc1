//! Schedules that `mdh tune` has kept, for `--tuned`.
//!
//! Whoever keeps them measures with this compiler, and so cannot be asked from here: the program that
//! has both sets the function that finds them ([`find_by`]), as it does for machines.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use mdh_cuda::Capability;
use mdh_dialect::ir::Op;
use mdh_schedule::Schedules;
use mdh_schedule::asm::Asm;
use serde::Serialize;

use crate::error::{Error, Result, say};

/// Functions that find what was tuned for a function whose computations are formed.
pub struct Find {
    /// The best schedules, of the nearest sizes if there are none of its own.
    pub nearest: fn(Op, &Wanted) -> Result<Found>,
    /// The best schedules of its own sizes.
    pub exact: fn(Op, &Wanted) -> Result<Found>,
    /// The sizes that it was tuned for, whatever its own are, the latest first.
    pub sizes: fn(Op, &Wanted) -> Result<Vec<TunedSizes>>,
}

static FIND: OnceLock<Find> = OnceLock::new();

/// Sizes that a program was tuned for.
pub struct TunedSizes {
    /// The sizes, by position and dimension.
    pub sizes: BTreeMap<String, i64>,
    /// The same in words.
    pub text: String,
}

/// Schedules that are asked for.
pub struct Wanted {
    /// The folder of the database; the usual one if none is named.
    pub folder: Option<PathBuf>,
    /// The machine that they were measured on.
    pub machine: Machine,
    /// The function's name, for what is said of one of several.
    pub of: Option<String>,
}

impl Wanted {
    /// Says something about what is taken.
    pub fn note(&self, text: &str) {
        let of = self
            .of
            .as_ref()
            .map_or(String::new(), |of| format!("'{of}': "));
        say(&format!("note: {of}{text}\n"));
    }
}

/// A machine as it is known where code for it is made.
pub enum Machine {
    /// One with a processor.
    Cpu(Box<Asm>),
    /// A GPU, as far as it is known.
    Gpu {
        /// Its name, or a part of it.
        name: Option<String>,
        /// The compute capability of its chip.
        chip: Option<Capability>,
    },
}

impl Machine {
    /// This machine's processor.
    pub fn this() -> Result<Machine> {
        let asm = mdh_machine::this().map_err(Error::input)?;
        Ok(Machine::Cpu(Box::new(asm)))
    }
}

/// The error about schedules for the simulator of a GPU.
pub fn none_for_sim() -> Error {
    Error::usage(
        "--tuned is for machines that `mdh tune` measures on: expected --device cpu or --device cuda",
    )
}

/// Schedules that were found.
pub struct Found {
    /// The schedules.
    pub choice: Choice,
    /// Facts about them.
    pub taken: Taken,
}

impl Found {
    /// Returns whether nothing that was kept is for the program.
    pub fn is_nothing(&self) -> bool {
        matches!(self.choice, Choice::Nothing { .. })
    }
}

/// Schedules for a program.
pub enum Choice {
    /// These, by the positions of computations.
    Kept(Schedules),
    /// The model's, which were measured and are the best: those of each computation alone.
    Model(Schedules),
    /// Nothing that was kept is for this program.
    Nothing {
        /// The state of the database.
        found: String,
        /// The way to tune it.
        help: String,
    },
}

/// Facts about a schedule that was taken, for people and for programs.
#[derive(Clone, Debug, Serialize)]
pub struct Taken {
    /// Its origin.
    pub from: Origin,
    /// Its time when it was measured.
    pub time_ms: Option<f64>,
    /// The day on which it was measured.
    pub date: Option<String>,
    /// The sizes that it was measured with, by position and dimension.
    pub sizes: Option<BTreeMap<String, i64>>,
    /// The time and the day in words.
    #[serde(skip)]
    pub measured: String,
    /// All of this in words.
    pub note: String,
}

/// Origin of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Tuned for the program and its sizes.
    Tuned,
    /// Tuned for the program, and for sizes near to its own.
    Nearest,
    /// The model's.
    Model,
}

/// Sets the functions that find schedules. The first ones stay.
pub fn find_by(find: Find) {
    let _ = FIND.set(find);
}

/// Finds schedules for a function whose computations are formed.
pub fn find(function: Op, wanted: &Wanted) -> Result<Found> {
    (finders()?.nearest)(function, wanted)
}

/// The same of its own sizes only.
pub fn exact(function: Op, wanted: &Wanted) -> Result<Found> {
    (finders()?.exact)(function, wanted)
}

/// Finds the sizes that a function was tuned for, the latest first.
pub fn sizes(function: Op, wanted: &Wanted) -> Result<Vec<TunedSizes>> {
    (finders()?.sizes)(function, wanted)
}

fn finders() -> Result<&'static Find> {
    let find = FIND.get();
    find.ok_or_else(|| Error::bug("this program keeps no schedules that were tuned"))
}
