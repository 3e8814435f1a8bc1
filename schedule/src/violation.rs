//! The constraints on schedules, each with its name, and what breaks them. Their texts stand where they are checked:
//! `names.rs`, `resolved.rs`, `check.rs`, `capacity.rs`, `legality.rs`.

use std::fmt;

use super::schedule_path::SchedulePath;

/// Constraint on schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// The ASM is well formed, and the one the schedule is made for.
    Asm,
    /// Layers are the ASM's.
    UnknownLayer,
    /// A layer stands once.
    DuplicateLayer,
    /// Dimensions are the computation's (or the ASM's).
    UnknownDimension,
    /// Buffers are the computation's.
    UnknownBuffer,
    /// Regions are memory layers of the ASM.
    UnknownRegion,
    /// There is at least one part; at most one count of a dimension is derived.
    Parts,
    /// Parts cover the space (paper, section 3.4, parameter 0).
    Cover,
    /// Orders are permutations of the MDH levels (D1, S1, R1).
    Permutation,
    /// Assignments are bijections between MDH levels and ASM levels (D2, S2, R2).
    Bijection,
    /// An order of tiles is a layout of the part counts of neighbouring levels.
    TileOrder,
    /// Layouts fit their buffers (D4, S4, S6, R4).
    Layout,
    /// A combine operator that is not commutative combines its dimension in order (R1).
    OrderKept,
    /// The parts of some core layers together (appendix C.1, constraint 0).
    PartLimit,
    /// The parts of a core layer in one of its dimensions.
    Extent,
    /// The bytes that lanes work on.
    Width,
    /// The memory in which the results of a core layer are combined (appendix C.1, constraints R3).
    CombineRegion,
    /// A tile of warp-level MMA is one of an instruction's.
    Instruction,
    /// Tiles that are copied asynchronously are those of a sequential loop, in a region and of
    /// elements for which there are such copies.
    Stages,
    /// Contents of a region fit it.
    Capacity,
    /// Data that one nest leaves in a region that cores have for themselves is used by the same
    /// cores in the next.
    HandOver,
    /// `compute_at` names a computation and a level of it.
    ComputeAt,
}

impl Constraint {
    /// Its name: `CombineRegion` is `combine-region`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(c.to_lowercase());
        }
        name
    }
}

/// A violated constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The broken constraint.
    pub constraint: Constraint,
    /// Its position in the schedule.
    pub place: SchedulePath,
    /// Found, expected, and what to do.
    pub message: String,
}

/// `capacity: ...`.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.constraint.name(), self.message)
    }
}

/// Notes a violation, once.
pub(super) fn find(
    found: &mut Vec<Violation>,
    constraint: Constraint,
    place: SchedulePath,
    message: String,
) {
    let is_it = |v: &Violation| v.constraint == constraint && v.message == message;
    if !found.iter().any(is_it) {
        found.push(Violation {
            constraint,
            place,
            message,
        });
    }
}
