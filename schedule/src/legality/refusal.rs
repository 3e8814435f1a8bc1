//! Schedules that are asked about, and the parts of a schedule that there is no code for.

use std::fmt;

use mdh_algebra::computation::Computation;

use crate::resolved::Resolved;
use crate::schedule::Schedule;
use crate::schedule_path::SchedulePath;

/// A computation with a resolved schedule.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The computation.
    pub computation: &'a Computation,
    /// The schedule as it is written.
    pub schedule: &'a Schedule,
    /// The schedule with its defaults.
    pub resolved: &'a Resolved,
}

/// The part of a schedule that there is no code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Cyclic parts whose tiles are no domain.
    Cyclic,
    /// A mask where loops end with the points.
    Tail,
    /// An order of tiles that are in registers, or threads.
    TileOrder,
    /// A region where tiles cannot be (D3, R3).
    Region,
    /// A region where the scalar function cannot have values (S3, S5).
    ScalarRegion,
    /// Deferred parts (R1).
    Deferred,
    /// More points than registers have bytes.
    Registers,
    /// Parts that are no parts of a dimension's groups.
    Parts,
    /// Accesses whose tiles are no boxes.
    Accesses,
    /// A layout that tiles do not have (D4, R4).
    Layout,
    /// Blocks that tiles do not divide (D4).
    Blocks,
    /// Several carries where one is combined.
    Carries,
    /// Results in registers of threads (R3), or a number of threads.
    Threads,
}

impl Reason {
    /// Returns its position in a schedule, as precisely as it is known.
    pub fn place(self) -> SchedulePath {
        match self {
            Reason::Cyclic | Reason::Carries => {
                SchedulePath::root().entry("decompose").entry("order")
            }
            Reason::Tail => SchedulePath::root().entry("tails"),
            Reason::TileOrder => SchedulePath::root().entry("tile_order"),
            Reason::Deferred => SchedulePath::root().entry("recompose").entry("order"),
            Reason::Registers => SchedulePath::layer("register"),
            Reason::Parts | Reason::Threads => SchedulePath::root().entry("layers"),
            Reason::Region
            | Reason::ScalarRegion
            | Reason::Accesses
            | Reason::Layout
            | Reason::Blocks => SchedulePath::root(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Reason::Cyclic => "cyclic parts",
            Reason::Tail => "tails",
            Reason::TileOrder => "tile_order",
            Reason::Region => "regions (D3, R3)",
            Reason::ScalarRegion => "regions of the scalar function (S3, S5)",
            Reason::Deferred => "deferred parts (R1)",
            Reason::Registers => "registers",
            Reason::Parts => "parts",
            Reason::Accesses => "accesses",
            Reason::Layout => "layouts (D4, R4)",
            Reason::Blocks => "blocks (D4)",
            Reason::Carries => "carries",
            Reason::Threads => "threads",
        };
        f.write_str(text)
    }
}

/// A part of a schedule that there is no code for, with what is expected instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The part.
    pub reason: Reason,
    /// True if sizes that are not known may still decide otherwise.
    pub is_open: bool,
    /// Follows "has a schedule".
    pub message: String,
}

impl Refusal {
    pub(super) fn new(reason: Reason, message: String) -> Refusal {
        Refusal {
            reason,
            is_open: false,
            message,
        }
    }

    pub(super) fn open(self) -> Refusal {
        Refusal {
            is_open: true,
            ..self
        }
    }
}

/// `that combines ..: expected ..`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
