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
mod refusal;
mod staging;
mod threads;
mod tile;
mod walk;

pub use axes::{Counts, MemoryAxis, axes, bricks, elements, is_blocked, own_axes};
pub use cyclic::{Left, is_in as is_cyclic, left as cyclic_left};
pub use loops::{Deferred, Loop, RegisterTile};
pub use places::{TileMemory, is_staged};
pub use refusal::{Reason, Refusal, Subject};
pub use staging::{BETWEEN_TILES, NOT_IN_STEP};
use walk::Walk;

/// Everything of a schedule that keeps the constraints that there is no code for.
///
/// Separate loop nests are computations of their own when they are lowered: each is asked about then.
pub fn check(subject: &Subject) -> Result<(), Vec<Refusal>> {
    if subject.resolved.is_apart(subject.computation) {
        return Ok(());
    }
    let mut refusals = Vec::new();
    let loops = subject.loops();
    let (leaf, form) = subject.leaf(&loops);
    cyclic::check(subject, &loops, &mut refusals);
    places::check(subject, &loops, leaf, &mut refusals);
    places::registers(subject, &form, &mut refusals);
    kernels::check(subject, &loops, leaf, &mut refusals);
    let deferred = subject.deferred(&loops, leaf);
    // The way through the loops is that of a schedule which is sound so far.
    let walked = match (refusals.is_empty(), deferred) {
        (false, Err(refusal)) | (true, Err(refusal)) => Err(refusal),
        (false, Ok(_)) => Ok(()),
        (true, Ok(deferred)) if !is_empty(subject, &loops[..leaf]) => Walk {
            of: subject,
            loops: &loops,
            leaf,
            deferred,
        }
        .single_nest(),
        (true, Ok(_)) => Ok(()),
    };
    refusals.extend(walked.err());
    if refusals.is_empty() {
        return Ok(());
    }
    let messages = refusals.iter_mut().map(|refusal| &mut refusal.message);
    subject
        .resolved
        .explain_left_out(subject.schedule, messages);
    Err(refusals)
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
