//! The block that is taken, with the loops around it.

use mdh_algebra::amounts::count;
use mdh_algebra::computation::Computation;

use super::assemble::{LoopNest, assemble};
use super::block::Block;
use super::choice::{Choice, objections};
use super::facts::{Facts, register_backoff};
use super::views::Views;
use crate::asm::Asm;

/// The block and the loops around it that the model takes, and their schedule.
pub(super) fn decide(
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
        let refusals = objections(&choice.schedule, computation, asm);
        if refusals.is_empty() {
            rejected.append(&mut choice.reasons);
            choice.reasons = rejected;
            return Some((block, plan, choice));
        }
        rejected.extend(refusals.iter().map(|finding| {
            let (block, registers) = (&block.unrolled, facts.registers);
            format!("with {registers} registers, a block of {block:?} {finding}")
        }));
    }
    None
}

/// The block whose loops take the fewest cycles, which says what the others take. The first one is
/// as good as any where no cycles were counted.
fn best(plans: Vec<(Block, LoopNest)>, views: &Views) -> Option<(Block, LoopNest)> {
    let takes = |(block, plan): &(Block, LoopNest)| {
        let cycles = count(plan.cycles?.ceil());
        Some(format!("{} {cycles}", block.display(views)))
    };
    let costs: Vec<String> = plans.iter().filter_map(takes).collect();
    let cycles = |plan: &LoopNest| plan.cycles.unwrap_or(0.0);
    let best = plans
        .into_iter()
        .reduce(|best, other| match cycles(&other.1) < cycles(&best.1) {
            true => other,
            false => best,
        });
    let (mut block, plan) = best?;
    if costs.len() > 1 {
        block.reasons.push(format!(
            "the best few of these are counted with the loops around them: {} takes the fewest \
             cycles a core, of {}",
            block.display(views),
            costs.join(", ")
        ));
    }
    Some((block, plan))
}
