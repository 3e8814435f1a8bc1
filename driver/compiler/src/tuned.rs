//! Schedules that `mdh tune` has kept, for `--tuned`.
//!
//! The tuner keeps them, and measures with this compiler, which so cannot depend on it: the program that has both
//! passes the functions that find them, as a part of its [`Host`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use mdh_cuda::Capability;
use mdh_dialect::ir::Op;
use mdh_schedule::Schedules;
use mdh_schedule::asm::Asm;
use serde::Serialize;

use crate::error::{Error, Result, say};
use crate::host::Host;

/// Functions that find what was tuned for a function whose computations are formed.
pub struct Find {
    /// The best schedules, of the nearest sizes if there are none of its own.
    pub nearest: fn(Op, &Wanted) -> Result<Found>,
    /// The best schedules of its own sizes.
    pub exact: fn(Op, &Wanted) -> Result<Found>,
    /// The sizes that it was tuned for, whatever its own are, the latest first.
    pub sizes: fn(Op, &Wanted) -> Result<Vec<TunedSizes>>,
}

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
    /// Access to the database.
    pub find: &'static Find,
}

impl Wanted {
    /// Schedules of a host's database, for a machine.
    pub fn new(host: &Host, folder: Option<PathBuf>, machine: Machine) -> Result<Wanted> {
        let none = || Error::bug("this program keeps no schedules that were tuned");
        Ok(Wanted {
            folder,
            machine,
            of: None,
            find: host.tuned.ok_or_else(none)?,
        })
    }

    /// Finds the best schedules for a function whose computations are formed, of the nearest sizes if there are none
    /// of its own.
    pub fn nearest(&self, function: Op) -> Result<Found> {
        (self.find.nearest)(function, self)
    }

    /// Finds the best schedules of a function's own sizes.
    pub fn exact(&self, function: Op) -> Result<Found> {
        (self.find.exact)(function, self)
    }

    /// Finds the sizes that a function was tuned for, the latest first.
    pub fn sizes(&self, function: Op) -> Result<Vec<TunedSizes>> {
        (self.find.sizes)(function, self)
    }

    /// Says something about what is taken.
    pub fn note(&self, text: &str) {
        let prefix = self
            .of
            .as_ref()
            .map_or(String::new(), |of| format!("'{of}': "));
        say(&format!("note: {prefix}{text}\n"));
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
    /// The processor of a host.
    pub fn processor(host: &Host) -> Machine {
        Machine::Cpu(Box::new(host.machine.clone()))
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
