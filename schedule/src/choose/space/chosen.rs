//! The model's choice as a configuration of the space.

use super::{Lanes, Role, ScheduleSpace};
use crate::asm::Asm;
use crate::choose::assemble::LoopNest;
use crate::choose::block::Block;
use crate::choose::decide::decide;
use crate::choose::facts::Facts;
use crate::choose::knobs::nearest;
use crate::choose::views::Views;
use crate::numbers::Parts;
use crate::schedule::Schedule;
use mdh_algebra::computation::Computation;

/// The block and the loops around it that the model takes, and their schedule.
pub(super) struct Chosen {
    block: Block,
    plan: LoopNest,
    /// The blocks of a tile of each dimension; of a sum, before the next loop around it goes on.
    tiles: Vec<i64>,
    pub(super) schedule: Schedule,
}

impl Chosen {
    pub(super) fn new(
        computation: &Computation,
        asm: &Asm,
        facts: Facts,
        group: i64,
        views: &Views,
    ) -> Option<Chosen> {
        let (block, plan, choice) = decide(computation, asm, facts, group, views)?;
        let mut tiles = vec![0; views.points.len()];
        for (_, d, parts) in &plan.around {
            if let Parts::Fixed(n) = parts {
                tiles[*d] = n * tiles[*d].max(1);
            }
        }
        if let Some((d, size)) = plan.cut {
            tiles[d] = size / block.points(d).max(1);
        }
        Some(Chosen {
            schedule: choice.schedule,
            block,
            plan,
            tiles,
        })
    }

    /// Its value of a knob of counts.
    pub(super) fn count(&self, role: Role) -> Option<i64> {
        match role {
            Role::Block(d) => Some(self.block.unrolled[d]),
            Role::Tile(d) => Some(self.tiles[d]),
            Role::Cores(d) => {
                let shared = self.plan.cores.iter().find(|(dim, _)| *dim == d);
                Some(shared.map_or(1, |(_, n)| *n))
            }
            _ => None,
        }
    }

    fn lanes(&self) -> Lanes {
        Lanes {
            along: self.block.lanes,
            group: self.block.group,
        }
    }

    /// The dimensions of these loops around tiles, outermost first; those that it has no loops of are the
    /// innermost.
    fn order(&self, around: &[usize]) -> Vec<usize> {
        let outer = self.plan.around.iter();
        let outer = outer.filter(|(.., parts)| *parts == Parts::Derived);
        let mut order: Vec<usize> = outer.map(|(_, d, _)| *d).collect();
        let rest = around.iter().filter(|d| !order.contains(d));
        let rest: Vec<usize> = rest.copied().collect();
        order.extend(rest);
        order
    }

    /// Returns whether it has such a block and such loops, whatever their layers are.
    fn is(&self, block: &Block, plan: &LoopNest) -> bool {
        let loops = |plan: &LoopNest| -> Vec<(usize, Parts)> {
            let around = plan.around.iter();
            around.map(|(_, d, parts)| (*d, *parts)).collect()
        };
        let sorted = |pairs: &[(usize, i64)]| {
            let mut pairs = pairs.to_vec();
            pairs.sort_unstable();
            pairs
        };
        let copies = |plan: &LoopNest| {
            let mut packed = plan.packed.clone();
            packed.sort_unstable();
            packed
        };
        let same_reasons = Block {
            reasons: block.reasons.clone(),
            ..self.block.clone()
        };
        same_reasons == *block
            && loops(&self.plan) == loops(plan)
            && sorted(&self.plan.cores) == sorted(&plan.cores)
            && copies(&self.plan) == copies(plan)
            && (self.plan.cut, self.plan.is_late) == (plan.cut, plan.is_late)
    }
}

impl ScheduleSpace {
    /// The values of the model's choice, if there are all of them, and they mean what it does.
    pub(super) fn values_of_choice(&self) -> Option<Vec<usize>> {
        let chosen = self.chosen.as_ref()?;
        self.lanes.contains(&chosen.lanes()).then_some(())?;
        let wanted = self.wanted(chosen);
        let (block, plan) = self.plan(&wanted);
        chosen.is(&block, &plan).then_some(wanted)
    }

    /// The nearest values to those of a choice, also where no configuration has all of them.
    pub(super) fn wanted(&self, chosen: &Chosen) -> Vec<usize> {
        let order = chosen.order(&self.around);
        let mut left = self.around.clone();
        let digit = |d: &usize| {
            let at = left.iter().position(|other| other == d)?;
            left.remove(at);
            Some(at)
        };
        let digits: Vec<usize> = order.iter().filter_map(digit).collect();
        let wanted = |(role, n): (&Role, usize)| match *role {
            Role::Lanes => {
                let mut lanes = self.lanes.iter();
                lanes
                    .position(|choice| *choice == chosen.lanes())
                    .unwrap_or(0)
            }
            Role::Block(_) | Role::Tile(_) | Role::Cores(_) => {
                let count = chosen.count(*role);
                count.map_or(0, |count| nearest(self.knobs[n].counts(), count))
            }
            Role::Order(n) => digits[n],
            Role::Pack(view) => {
                let packed = chosen.plan.packed.iter().find(|(n, _)| *n == view);
                packed.map_or(0, |(_, before)| {
                    1 + self.position(&chosen.plan, &order, *before)
                })
            }
            Role::Combine => usize::from(!chosen.plan.is_late),
            Role::Tails => 0,
        };
        self.roles.iter().zip(0..).map(wanted).collect()
    }

    /// The number, among all loops around tiles, of the one that is this one of a nest's.
    fn position(&self, plan: &LoopNest, order: &[usize], before: usize) -> usize {
        match plan.around.get(before) {
            Some((_, d, Parts::Derived)) => order.iter().position(|other| other == d),
            _ => None,
        }
        .unwrap_or(order.len())
    }
}
