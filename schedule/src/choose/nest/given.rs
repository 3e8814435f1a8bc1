//! The cycles of loops that were decided elsewhere, by a tuner.

use super::super::assemble::LoopNest;
use super::super::traffic::{self, Loop};
use super::cycles::HAND_OVER;
use super::{Role, Search};
use crate::numbers::Parts;
use crate::numbers::ceil_div;

impl Search<'_> {
    /// The cycles of a core that these loops around the block take.
    pub fn count(&self, plan: &LoopNest) -> f64 {
        let mut loops: Vec<(Role, Loop)> = Vec::new();
        // Of each loop of the plan, the number of those before it that go round.
        let mut before = Vec::new();
        for (_, d, parts) in &plan.around {
            before.push(loops.len());
            add(&mut loops, self.around(plan, *d, *parts), *d);
        }
        before.push(loops.len());
        for d in &plan.sums {
            let blocks = self.blocks(*d, &plan.cores);
            let trips = self.cut(plan, *d).map_or(blocks, |part| part.min(blocks));
            add(&mut loops, (Role::Sum, trips), *d);
        }
        let at = self.at(&plan.cores, plan.cut, &loops);
        let packed = plan.packed.iter();
        let packed: Vec<(usize, usize)> = packed.map(|(n, at)| (*n, before[*at])).collect();
        let mut cycles = self.cycles(&at, &packed);
        if !plan.is_late && self.combines_lanes() {
            // Not once, but after each block.
            let more = traffic::trips(&at.plain) - traffic::trips(&at.plain[..at.kept]);
            cycles.storing += more * self.store_cycles(&at);
        }
        let start = match plan.cores.is_empty() {
            true => 0.0,
            false => HAND_OVER,
        };
        start + cycles.total()
    }

    /// The role and the trips of a loop around tiles, or over the blocks of one.
    fn around(&self, plan: &LoopNest, d: usize, parts: Parts) -> (Role, i64) {
        let blocks = self.blocks(d, &plan.cores);
        let inner = plan
            .around
            .iter()
            .filter_map(|(_, other, parts)| match parts {
                Parts::Fixed(n) if *other == d => Some(*n),
                _ => None,
            });
        match (parts, self.cut(plan, d)) {
            (Parts::Fixed(n), _) => (Role::Inner, n.min(blocks)),
            (Parts::Derived, Some(part)) => (Role::Cut, ceil_div(blocks, part)),
            (Parts::Derived, None) => {
                (Role::Outer, ceil_div(blocks, inner.product::<i64>().max(1)))
            }
        }
    }

    /// The blocks of a part of a combined dimension that is cut.
    fn cut(&self, plan: &LoopNest, d: usize) -> Option<i64> {
        let cut = plan.cut.filter(|(cut, _)| *cut == d);
        cut.map(|(_, size)| (size / self.block.points(d)).max(1))
    }

    fn combines_lanes(&self) -> bool {
        let lanes = self.block.lanes;
        lanes.is_some_and(|(d, _)| self.views.combine[d].is_pw())
    }
}

/// Adds a loop that goes round: another one moves nothing.
fn add(loops: &mut Vec<(Role, Loop)>, (role, trips): (Role, i64), dimension: usize) {
    if trips > 1 {
        loops.push((role, Loop { dimension, trips }));
    }
}
