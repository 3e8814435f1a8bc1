//! A schedule for any computation, chosen from its maps, types and the machine's facts alone.
//!
//! The model counts, it does not run anything:
//! 1. *lanes* go along the dimension in which the accesses are the cheapest: neighbours in
//!    memory cost one vector, what does not move one broadcast, everything else an access for
//!    each lane. An input that is read often and moves along one of its axes counts as if it
//!    were packed; one that is read along another dimension than results are written along is
//!    transposed in registers;
//! 2. a *block* of points is unrolled such that the fewest loads are left for each of them,
//!    counting what several points of the block share once, and all partial results stay in
//!    registers;
//! 3. combined dimensions are *loops* around the block, cut where what one of them reads for a
//!    block would leave the second-level cache, or where rows of what is read only once are read
//!    faster one after the other;
//! 4. inputs that are read again and again through a long stride are *packed*;
//! 5. *cores* share a kept dimension, else one that is combined; a computation too small to
//!    hand over stays on one.
//!
//! What comes out is checked like any other schedule: where it breaks a constraint (what it
//! keeps in registers does not fit them), the model chooses again with fewer registers.

mod assemble;
mod block;
pub mod fuse;
mod pack;
mod turn;
mod views;

use crate::asm::Asm;
use crate::computation::{Computation, Dimension};

use super::{Schedule, check};
use assemble::assemble;
use block::Block;
use views::Views;

/// What of a machine the choice depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Cores.
    pub cores: i64,
    /// Bytes of a vector.
    pub vector: i64,
    /// Vector registers.
    pub registers: i64,
    /// Bytes of the first cache level of a core.
    pub l1: i64,
    /// Bytes of the second one.
    pub l2: i64,
    /// The fewest points that are worth handing to other cores.
    pub share: i64,
}

/// A schedule, and why it is the one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The schedule.
    pub schedule: Schedule,
    /// Whether blocks are transposed in registers.
    pub is_transposed: bool,
    /// What was chosen and what was rejected, in whole sentences with their numbers.
    pub reasons: Vec<String>,
}

impl Facts {
    /// The facts of a machine with the layers of `cpu`; `None` if it has others.
    pub fn of(asm: &Asm) -> Option<Facts> {
        let core = asm.layer("core")?.core()?;
        let simd = asm.layer("simd")?.core()?;
        let bytes =
            |name: &str| Some(i64::try_from(asm.memory(name)?.capacity?).unwrap_or(i64::MAX));
        let vector = i64::try_from(simd.width?).ok()?.max(1);
        Some(Facts {
            cores: i64::try_from(core.count?).ok()?.max(1),
            vector,
            registers: (bytes("register")? / vector).max(4),
            l1: bytes("L1")?,
            l2: bytes("L2")?,
            share: SHARE,
        })
    }
}

/// Below these many points, handing work over costs more than it gives.
pub const SHARE: i64 = 1 << 15;

/// Chooses a schedule; `None` for a machine without the layers of `cpu`, and where the points of
/// a dimension do not lie at equal distances, or there are none.
pub fn choose(computation: &Computation, asm: &Asm) -> Option<Choice> {
    choose_for(computation, asm, Facts::of(asm)?)
}

/// [`choose`], with other facts than those of the machine: with vectors of one byte, nothing
/// gets lanes.
pub fn choose_for(computation: &Computation, asm: &Asm, facts: Facts) -> Option<Choice> {
    let is_even = |d: &Dimension| d.width == Some(1) || (d.width.is_some() && d.width == d.step);
    let is_regular = |d: &Dimension| is_even(d) && d.count() != Some(0);
    if !computation.dimensions.iter().all(is_regular) {
        return None;
    }
    let views = Views::of(computation);
    let mut rejected = Vec::new();
    for facts in fewer_and_fewer(facts) {
        let block = Block::choose(&views, &facts);
        let mut choice = assemble(computation, asm, &facts, &views, &block);
        let Err(found) = check(&choice.schedule, computation, asm) else {
            rejected.append(&mut choice.reasons);
            choice.reasons = rejected;
            return Some(choice);
        };
        rejected.extend(found.iter().map(|finding| {
            let (block, registers) = (&block.unrolled, facts.registers);
            format!("with {registers} registers, a block of {block:?} breaks {finding}")
        }));
    }
    None
}

/// The facts of a machine, then with half of its registers, and so on; at last without lanes.
fn fewer_and_fewer(facts: Facts) -> impl Iterator<Item = Facts> {
    let fewer = std::iter::successors(Some(facts), |facts| {
        let registers = facts.registers / 2;
        (registers >= 4).then_some(Facts {
            registers,
            ..*facts
        })
    });
    let scalar = Facts {
        vector: 1,
        registers: 1,
        ..facts
    };
    fewer.chain([scalar])
}

#[cfg(test)]
mod tests;
