//! The constraints, each with its name; every violation is collected.

use std::fmt;

use super::place::SchedulePath;
use super::resolved::Resolved;
use super::{ComputeAt, Schedule, capacity, matrix, model, stages, tile_order};
use crate::asm::Asm;
use mdh_algebra::computation::Computation;

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

/// The total form of a schedule that keeps all constraints, or everything that it violates. What
/// depends on sizes that are not known is checked when they are: check the bound computation.
pub fn check(
    schedule: &Schedule,
    computation: &Computation,
    asm: &Asm,
) -> Result<Resolved, Vec<Violation>> {
    let resolved = Resolved::new(schedule, computation, asm)?;
    let mut found = Vec::new();
    order_kept(&resolved, computation, &mut found);
    tile_order::check(&resolved, computation, &mut found);
    model::check(&resolved, computation, &mut found);
    matrix::check(&resolved, computation, &mut found);
    stages::check(&resolved, computation, &mut found);
    capacity::check(&resolved, computation, &mut found);
    if found.is_empty() {
        return Ok(resolved);
    }
    resolved.explain_left_out(schedule, found.iter_mut().map(|own| &mut own.message));
    Err(found)
}

/// Levels of a dimension that a non-commutative operator combines are nested as their layers
/// are: then every partial result stands for neighbours.
fn order_kept(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    let Some(operator) = computation.operator().filter(|op| !op.is_commutative()) else {
        return;
    };
    for (d, dimension) in computation.dimensions.iter().enumerate() {
        if dimension.combine.operator().is_none() {
            continue;
        }
        let order = resolved.recompose.order.iter();
        let loops = order.filter(|l| l.dimension == d && !resolved.count(**l).is_one());
        let loops: Vec<_> = loops.collect();
        for pair in loops.windows(2) {
            if pair[0].layer > pair[1].layer {
                let message = format!(
                    "'{operator}' is not commutative, but re-composition has level '{}' (layer \
                     {}) outside of '{}' (layer {}): order them as the layers are",
                    resolved.name(*pair[0]),
                    pair[0].layer + 1,
                    resolved.name(*pair[1]),
                    pair[1].layer + 1
                );
                let place = SchedulePath::root().entry("recompose").entry("order");
                find(found, Constraint::OrderKept, place, message);
            }
        }
    }
}

/// Returns whether the consumer is there and has the level, among the function's other computations.
pub fn check_compute_at(at: &ComputeAt, others: &[(&str, &Resolved)]) -> Result<(), Violation> {
    let refuse = |message| Violation {
        constraint: Constraint::ComputeAt,
        place: SchedulePath::root().entry("compute_at"),
        message,
    };
    let Some((name, consumer)) = others.iter().find(|(name, _)| *name == at.consumer) else {
        let known: Vec<_> = others.iter().map(|(name, _)| *name).collect();
        return Err(refuse(format!(
            "found no computation '{}' to compute at, expected one of {}",
            at.consumer,
            known.join(", ")
        )));
    };
    let layer = consumer.layers.contains(&at.level.layer);
    if layer && consumer.dimensions.contains(&at.level.dimension) {
        return Ok(());
    }
    Err(refuse(format!(
        "computation '{name}' has no level '{}': its layers are {}, its dimensions {}",
        at.level,
        consumer.layers.join(", "),
        consumer.dimensions.join(", ")
    )))
}
