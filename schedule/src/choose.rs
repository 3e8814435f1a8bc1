//! A schedule for any computation, chosen from its maps, types and the machine's facts alone.
//!
//! The model counts, it does not run anything:
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
pub mod fuse;
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
use mdh_algebra::amounts::count;
use mdh_algebra::computation::Computation;

use super::legality::{self, Refusal, Subject};
use super::{Schedule, check};
use assemble::{LoopNest, assemble};
use block::Block;
pub use kernels::{choose as choose_kernels, space::KernelSpace};
pub use knobs::{Chained, Knob, Knobs, ModelChoice, SearchedParts, TileLoop};
pub use meaning::meaning;
pub use scans::separates_scans;
pub use space::ScheduleSpace;
use views::Views;

/// Facts about a machine that the choice depends on.
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
    /// Bytes of the third one, which cores share: those of the second where there is none.
    pub l3: i64,
    /// The minimum parallel grain: the fewest points that are worth a thread.
    pub grain: i64,
    /// True if results must be the same for any number of cores, floats included.
    pub is_deterministic: bool,
}

/// A schedule, and why it is the one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The schedule.
    pub schedule: Schedule,
    /// True if blocks are transposed in registers.
    pub is_transposed: bool,
    /// Reasons for what was chosen and what was rejected, in whole sentences with their numbers.
    pub reasons: Vec<String>,
}

impl Facts {
    /// The facts of a machine with the layers of `cpu`; `None` if it has others.
    pub fn of(asm: &Asm) -> Option<Facts> {
        let core = asm.layer("core")?.core()?;
        let bytes =
            |name: &str| Some(i64::try_from(asm.memory(name)?.capacity?).unwrap_or(i64::MAX));
        let vector = i64::try_from(asm.vector()?).ok()?.max(1);
        Some(Facts {
            cores: i64::try_from(core.count?).ok()?.max(1),
            vector,
            registers: (bytes("register")? / vector).max(4),
            l1: bytes("L1")?,
            l2: bytes("L2")?,
            l3: bytes("L3").or_else(|| bytes("L2"))?,
            grain: MIN_GRAIN,
            is_deterministic: false,
        })
    }
}

/// Size in bytes from which on results that are written once are stored non-temporally: the
/// capacity of the last cache, within the bounds of shared caches of most machines.
pub fn streaming_threshold(last: i64) -> i64 {
    last.clamp(8 << 20, 32 << 20)
}

/// The minimum parallel grain: below these many points, another thread costs more than it gains.
pub const MIN_GRAIN: i64 = 1 << 15;

/// Chooses a schedule; `None` for a machine without the layers of `cpu`, where a dimension has no
/// points, and where it is not known how many of them come together.
pub fn choose(computation: &Computation, asm: &Asm) -> Option<Choice> {
    choose_for(computation, asm, Facts::of(asm)?, 1)
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
    if !has_parts(computation) {
        return None;
    }
    if has_gaps(computation) {
        return strided::choose(computation, asm, &facts);
    }
    let views = Views::of(computation);
    decide(computation, asm, facts, group, &views).map(|(_, _, choice)| choice)
}

/// The block and the loops around it that the model takes, and their schedule.
fn decide(
    computation: &Computation,
    asm: &Asm,
    facts: Facts,
    group: i64,
    views: &Views,
) -> Option<(Block, LoopNest, Choice)> {
    let mut rejected = Vec::new();
    for facts in register_backoff(facts) {
        let blocks = Block::candidates(views, &facts, group);
        let plans = blocks.into_iter().map(|block| {
            let plan = LoopNest::new(computation, &facts, views, &block);
            (block, plan)
        });
        let (block, plan) = best(plans.collect(), views)?;
        let mut choice = assemble(computation, asm, &facts, views, &block, &plan);
        let found = objections(&choice.schedule, computation, asm);
        if found.is_empty() {
            rejected.append(&mut choice.reasons);
            choice.reasons = rejected;
            return Some((block, plan, choice));
        }
        rejected.extend(found.iter().map(|finding| {
            let (block, registers) = (&block.unrolled, facts.registers);
            format!("with {registers} registers, a block of {block:?} {finding}")
        }));
    }
    None
}

/// Everything against a schedule: constraints that it breaks on this machine or on that of its name
/// with usual facts, by which it is lowered, and parts of it that there is no code for.
fn objections(schedule: &Schedule, computation: &Computation, asm: &Asm) -> Vec<String> {
    let usual = Asm::builtin(&asm.name).filter(|usual| usual != asm);
    for asm in [Some(asm), usual.as_ref()].into_iter().flatten() {
        let resolved = match check(schedule, computation, asm) {
            Ok(resolved) => resolved,
            Err(found) => return found.iter().map(|f| format!("breaks {f}")).collect(),
        };
        let subject = Subject {
            computation,
            schedule,
            resolved: &resolved,
        };
        if let Err(found) = legality::check(&subject) {
            let say = |f: &Refusal| format!("has no code in a schedule {f}");
            return found.iter().map(say).collect();
        }
    }
    Vec::new()
}

/// Returns whether each dimension has points, and it is known where parts of it start.
fn has_parts(computation: &Computation) -> bool {
    let mut dimensions = computation.dimensions.iter();
    dimensions.all(|d| strided::has_parts(d) && d.count() != Some(0))
}

/// Returns whether the points of some dimension do not lie at equal distances.
fn has_gaps(computation: &Computation) -> bool {
    let mut groups = computation.dimensions.iter().map(strided::group);
    groups.any(|group| group.is_some())
}

/// The block whose loops take the fewest cycles, which says what the others take. The first one is
/// as good as any where no cycles were counted.
fn best(plans: Vec<(Block, LoopNest)>, views: &Views) -> Option<(Block, LoopNest)> {
    let takes = |(block, plan): &(Block, LoopNest)| {
        let cycles = count(plan.cycles?.ceil());
        Some(format!("{} {cycles}", block.display(views)))
    };
    let all: Vec<String> = plans.iter().filter_map(takes).collect();
    let cycles = |plan: &LoopNest| plan.cycles.unwrap_or(0.0);
    let best = plans
        .into_iter()
        .reduce(|best, other| match cycles(&other.1) < cycles(&best.1) {
            true => other,
            false => best,
        });
    let (mut block, plan) = best?;
    if all.len() > 1 {
        block.reasons.push(format!(
            "the best few of these are counted with the loops around them: {} takes the fewest \
             cycles a core, of {}",
            block.display(views),
            all.join(", ")
        ));
    }
    Some((block, plan))
}

/// The facts of a machine, then with half of its registers, and so on; at last without lanes.
fn register_backoff(facts: Facts) -> impl Iterator<Item = Facts> {
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
