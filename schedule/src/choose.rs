//! A schedule for any computation, chosen from its maps, types and the machine's facts alone.
//!
//! The model counts, it does not run anything (the dimension of the lanes and the block are decided in `block.rs`, by
//! accesses as `views.rs` and `transpose.rs` have them, loops in `nest.rs`, rows in `bands.rs`; [`choose_kernels`] in
//! `kernels.rs` is asked for GPUs in its place; `fusion_gain.rs` has what a fusion gains, and decides none):
//! 1. *lanes* go along the dimension in which the accesses are the cheapest: neighbours in
//!    memory cost one vector, what does not move one broadcast, everything else an access for
//!    each lane. An input that is read often and moves along one of its axes counts as if it
//!    were packed; one that is read along another dimension than results are written along is
//!    transposed in registers. Where an instruction combines several points of a sum in each lane,
//!    blocks with such groups are looked at as well;
//! 2. a *block* of points is unrolled such that the fewest loads are left for each of them,
//!    counting what several points of the block share once, and all partial results stay in
//!    registers;
//! 3. combined dimensions are *loops* around the block. Around those, the orders and tiles of
//!    loops, the cut of a combined dimension, the inputs that are *packed*, and where, and the
//!    dimension that *cores* share are those of the nest that takes the fewest cycles, counting
//!    what it moves between the memories; a computation too small for several threads stays on one core;
//! 4. rows of what is read only once are read one after the other.
//!
//! Where the points of a dimension come in groups with gaps between them, parts are made of whole
//! groups instead (`choose/strided.rs`).
//!
//! What comes out is checked like any other schedule: where it breaks a constraint (what it
//! keeps in registers does not fit them), the model chooses again with fewer registers.

mod assemble;
mod bands;
mod block;
mod choice;
mod decide;
mod facts;
pub mod fusion_gain;
mod kernels;
mod knobs;
mod meaning;
mod nest;
mod pack;
mod parts;
pub mod rates;
mod scans;
mod scattered;
mod space;
mod strided;
mod traffic;
mod transpose;
mod views;

use crate::asm::Asm;
use mdh_algebra::computation::Computation;

pub use choice::Choice;
pub use facts::{Facts, MIN_GRAIN, streaming_threshold};
pub use kernels::{choose as choose_kernels, space::KernelSpace};
pub use knobs::{Chained, Knob, Knobs, ModelChoice, SearchedParts, TileLoop, draw};
pub use meaning::meaning;
pub use scans::separates_scans;
pub use space::ScheduleSpace;
use views::Views;

/// Chooses a schedule; `None` for a machine without the layers of `cpu`, where a dimension has no
/// points, and where it is not known how many of them come together.
pub fn choose(computation: &Computation, asm: &Asm) -> Option<Choice> {
    choose_for(computation, asm, Facts::new(asm)?, 1)
}

/// [`choose`], with other facts than those of the machine: with vectors of one byte, nothing
/// gets lanes. One instruction combines at most `group` neighbouring points of a sum of this
/// computation's products in each lane; 1 where there is no such instruction.
pub fn choose_for(
    computation: &Computation,
    asm: &Asm,
    facts: Facts,
    group: i64,
) -> Option<Choice> {
    if !strided::all_have_parts(computation) {
        return None;
    }
    if strided::has_gaps(computation) {
        return strided::choose(computation, asm, &facts);
    }
    let views = Views::new(computation);
    decide::decide(computation, asm, facts, group, &views).map(|(_, _, choice)| choice)
}

#[cfg(test)]
mod tests;
