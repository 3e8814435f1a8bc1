//! Chains in the space: the loops that other computations may be computed in, and knobs that
//! leave them.

use super::{Role, ScheduleSpace};
use crate::computation::Combine;
use crate::schedule::LevelName;
use crate::schedule::choose::knobs::{Chained, TileLoop};

/// The layer of a tile's loops.
const INNER: &str = "L2";
/// The layer of the cores' parts.
const CORE: &str = "core";

impl ScheduleSpace {
    /// The layer of the loops around tiles.
    fn outer(&self) -> &'static str {
        match self.asm.memory("L3") {
            Some(_) => "L3",
            None => "main",
        }
    }
}

impl Chained for ScheduleSpace {
    fn levels(&self, moving: &[usize]) -> Vec<LevelName> {
        let has_points = |d: &usize| self.views.points[*d].is_none_or(|n| n > 1);
        let kept = self.views.dims(|c| c == Combine::Cc);
        let kept: Vec<usize> = kept.into_iter().filter(has_points).collect();
        // All loops around tiles are outside of those in them.
        let has_inner = kept.iter().all(|d| moving.contains(d));
        let of = |layer: &'static str, has: &dyn Fn(usize) -> bool| -> Vec<LevelName> {
            let own = kept.iter().filter(|d| moving.contains(d) && has(**d));
            own.map(|d| LevelName::new(layer, &self.views.names[*d]))
                .collect()
        };
        let core = of(CORE, &|d| self.find(Role::Cores(d)).is_some());
        let outer = of(self.outer(), &|_| true);
        let inner = of(INNER, &|d| has_inner && self.find(Role::Tile(d)).is_some());
        [core, outer, inner].concat()
    }

    fn decides(&self, knob: usize) -> bool {
        let role = self.roles[knob];
        matches!(
            role,
            Role::Block(_) | Role::Tile(_) | Role::Cores(_) | Role::Order(_) | Role::Pack(_)
        )
    }

    fn keeps(&self, values: &[usize], at: &TileLoop) -> bool {
        let mut names = self.views.names.iter();
        let Some(d) = names.position(|name| *name == at.level.dimension) else {
            return false;
        };
        let role = self.roles[values.len() - 1];
        let moves = |other: usize| at.moving.contains(&other);
        match (role, at.level.layer.as_str()) {
            (Role::Pack(view), _) => {
                // Before the leaf, all loops around it are outside.
                let knob = &self.knobs[values.len() - 1];
                let chosen = values.last().copied().unwrap_or(0);
                let input = &self.computation.inputs[self.views.all[view].buffer];
                chosen == 0 || chosen + 1 == knob.values.len() || !at.inputs.contains(&input.name)
            }
            (Role::Cores(x), layer) => match self.count(role, values, 1) {
                1 => x != d || layer != CORE,
                _ => moves(x),
            },
            (_, CORE) => true,
            (Role::Block(x), _) => x != d || self.blocks(d, values) > 1,
            (Role::Tile(x), INNER) => match self.count(role, values, 0) {
                own if x == d => own > 1,
                own => own == 0 || moves(x) || !self.views.combine[x].is_pw(),
            },
            (Role::Order(n), layer) if layer != INNER => {
                let mut left = self.around.clone();
                let digits = (0..=n).filter_map(|n| self.find(Role::Order(n)));
                let order: Vec<usize> = digits.map(|knob| left.remove(values[knob])).collect();
                order.iter().take_while(|x| **x != d).all(|x| moves(*x))
            }
            _ => true,
        }
    }

    fn is_of_tile(&self, values: &[usize]) -> bool {
        let role = self.roles[values.len() - 1];
        !matches!(role, Role::Cores(_)) || self.count(role, values, 1) == 1
    }
}
