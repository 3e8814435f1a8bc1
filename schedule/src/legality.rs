//! Legality of a schedule: whether the lowering has code for all that it asks for.
//!
//! [`super::check`] says what a schedule must keep to be one: names, counts, capacities. Of those that
//! do, some ask for code that there is none for: masks of loops outside of registers, blocks that
//! tiles do not divide, partial results between two deferred levels. That is decided
//! here, once, from the computation, the schedule and what is known of sizes:
//!
//! - the model asks before it chooses,
//! - the verifier asks of each schedule that stands on an operation,
//! - the lowering asks before it begins, and takes what is left over for granted.
//!
//! | module        | refuses                                                               |
//! |---------------|-----------------------------------------------------------------------|
//! | `cyclic` | cyclic tilings with gaps of several sizes                               |
//! | `places`      | regions, layouts, masks and orders of tiles inside of registers         |
//! | `loops`       | deferred parts (R1), beside which loops stay in registers |
//! | `walk`        | carries and partial results, level by level                             |
//! | `staging`     | copies of tiles, level by level: accesses, layouts, blocks              |
//! | `threads`     | results that threads combine in registers, loops that these go through |
//! | `kernels`     | blocks and threads of a launch, copies inside of an instruction         |
//!
//! What a size that is not known yet decides is *open*, as are machines whose kernels there is no code
//! for yet: the lowering, which has no more to know, refuses it; the verifier waits.

mod axes;
mod cyclic;
mod kernels;
mod loops;
mod places;
mod staging;
mod threads;
mod tile;
mod walk;

use std::fmt;

pub use axes::{Counts, MemoryAxis, axes, bricks, elements, is_blocked, own_axes};
pub use cyclic::{Left, is_in as is_cyclic, left as cyclic_left};
pub use loops::{Deferred, Loop, RegisterTile};
pub use places::{TileMemory, is_staged};
pub use staging::{BETWEEN_TILES, NOT_IN_STEP};
use walk::Walk;

use super::{Resolved, Schedule};
use mdh_algebra::computation::Computation;

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
    pub fn place(self) -> super::SchedulePath {
        match self {
            Reason::Cyclic | Reason::Carries => super::SchedulePath::root()
                .entry("decompose")
                .entry("order"),
            Reason::Tail => super::SchedulePath::root().entry("tails"),
            Reason::TileOrder => super::SchedulePath::root().entry("tile_order"),
            Reason::Deferred => super::SchedulePath::root()
                .entry("recompose")
                .entry("order"),
            Reason::Registers => super::SchedulePath::layer("register"),
            Reason::Parts | Reason::Threads => super::SchedulePath::root().entry("layers"),
            Reason::Region
            | Reason::ScalarRegion
            | Reason::Accesses
            | Reason::Layout
            | Reason::Blocks => super::SchedulePath::root(),
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
    fn new(reason: Reason, message: String) -> Refusal {
        Refusal {
            reason,
            is_open: false,
            message,
        }
    }

    fn open(self) -> Refusal {
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

/// Everything of a schedule that keeps the constraints that there is no code for.
///
/// Separate loop nests are computations of their own when they are lowered: each is asked about then.
pub fn check(of: &Subject) -> Result<(), Vec<Refusal>> {
    if of.resolved.is_apart(of.computation) {
        return Ok(());
    }
    let mut found = Vec::new();
    let loops = of.loops();
    let (leaf, form) = of.leaf(&loops);
    cyclic::check(of, &loops, &mut found);
    places::check(of, &loops, leaf, &mut found);
    places::registers(of, &form, &mut found);
    kernels::check(of, &loops, leaf, &mut found);
    let deferred = of.deferred(&loops, leaf);
    // The way through the loops is that of a schedule which is sound so far.
    let walked = match (found.is_empty(), deferred) {
        (false, Err(refusal)) | (true, Err(refusal)) => Err(refusal),
        (false, Ok(_)) => Ok(()),
        (true, Ok(deferred)) if !is_empty(of, &loops[..leaf]) => Walk {
            of,
            loops: &loops,
            leaf,
            deferred,
        }
        .single_nest(),
        (true, Ok(_)) => Ok(()),
    };
    found.extend(walked.err());
    if found.is_empty() {
        return Ok(());
    }
    let messages = found.iter_mut().map(|own| &mut own.message);
    of.resolved.explain_left_out(of.schedule, messages);
    Err(found)
}

/// Returns whether a combined dimension that is cut has no points, outside of what stays in registers: then
/// nothing of the schedule is followed.
fn is_empty(of: &Subject, loops: &[Loop]) -> bool {
    let mut sums = loops.iter().filter(|l| l.combine.is_pw());
    sums.any(|l| of.computation.dimensions[l.level.dimension].count() == Some(0))
}

#[cfg(test)]
#[path = "legality/tests.rs"]
mod tests;
